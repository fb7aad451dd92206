// SPDX-License-Identifier: Apache-2.0

package truth

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	customv1beta2 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	externalv1beta1 "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

const (
	resolution = 15 * time.Second
	maxAge     = time.Minute
	figure     = 42_000
)

var now = time.Unix(1_800_000_000, 0)

// beat measures 300 ms after full quarters of a minute.
func beat(at time.Time) (int64, time.Time) {
	const offset = 300 * time.Millisecond
	number := (at.UnixNano() - int64(offset)) / int64(resolution)
	return number, time.Unix(0, number*int64(resolution)+int64(offset))
}

func used(number int64) []metricsv1beta1.ContainerMetrics {
	return []metricsv1beta1.ContainerMetrics{{Name: "app", Usage: corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(number%100, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(1<<20, resource.BinarySI),
	}}}
}

// world has three members with web-0 and web-1 in shop; old-0 went two minutes
// ago, late-0 ten seconds ago, and young-0 came then.
func world(t *testing.T) *Judge {
	t.Helper()
	p := NewPods(maxAge, resolution)
	long := now.Add(-time.Hour)
	err := p.Change(func(c *Changes) error {
		for _, member := range []string{"east", "north", "west"} {
			p.members = append(p.members, member)
			p.beats[member] = beat
			for name, app := range map[string]string{"web-0": "web", "web-1": "web", "old-0": "web", "late-0": "late", "young-0": "young"} {
				pod := Pod{ID: ID{member, "shop", name}, Labels: labels.Set{"app": app}, Figure: figure, Used: used}
				since := long
				if app == "young" {
					since = now.Add(-10 * time.Second)
				}
				c.Came(pod, since)
			}
			c.Went(ID{member, "shop", "old-0"}, now.Add(-2*time.Minute))
			c.Went(ID{member, "shop", "late-0"}, now.Add(-10*time.Second))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	j, err := NewJudge(p)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// reply is an answer on its way out, which a liar may change.
type reply struct {
	coverage fleet.Coverage
	unwarned bool
	header   string
	usage    []metricsv1beta1.PodMetrics
	figures  []customv1beta2.MetricValue
}

func (r *reply) answer(t *testing.T, list any) Answer {
	t.Helper()
	body, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	a := Answer{Begin: now, End: now.Add(50 * time.Millisecond), Code: http.StatusOK, Header: http.Header{}, Body: body}
	a.Header.Set(fleet.CoverageHeader, r.coverage.Header()+r.header)
	if w := r.coverage.Warning(); w != "" && !r.unwarned {
		a.Header.Add("Warning", fmt.Sprintf("299 %s %q", fleet.WarningAgent, w))
	}
	return a
}

func honest() *reply {
	r := &reply{coverage: fleet.Coverage{Answered: []string{"east", "north", "west"}}}
	for _, member := range r.coverage.Answered {
		for _, name := range []string{"web-0", "web-1"} {
			r.usage = append(r.usage, usageOf(member, name, now.Add(-20*time.Second)))
			r.figures = append(r.figures, customv1beta2.MetricValue{
				DescribedObject: corev1.ObjectReference{Namespace: "shop", Name: name}, Value: *resource.NewMilliQuantity(figure, resource.DecimalSI),
				Metric: customv1beta2.MetricIdentifier{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{fleet.ClusterLabel: member}}},
			})
		}
	}
	return r
}

func usageOf(member, name string, asked time.Time) metricsv1beta1.PodMetrics {
	number, at := beat(asked)
	return metricsv1beta1.PodMetrics{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{fleet.ClusterLabel: member}},
		Timestamp:  metav1.NewTime(at.Truncate(time.Second)), Containers: used(number),
	}
}

// without is true of an answer that lacks west.
func (r *reply) without(said bool) {
	r.usage, r.figures = r.usage[:4], r.figures[:4]
	if said {
		r.coverage.Answered = []string{"east", "north"}
		r.coverage.Silent = []fleet.SilentMember{{Cluster: "west", Silence: fleet.Silence{Reason: fleet.ReasonTimeout}}}
	}
}

func TestListsAreJudged(t *testing.T) {
	for name, tc := range map[string]struct {
		lie  func(r *reply)
		want Verdict
		// why is a part of the reason.
		why string
	}{
		"the truth":              {func(*reply) {}, Right, ""},
		"a part, and said":       {func(r *reply) { r.without(true) }, Partial, "west"},
		"a part, and not said":   {func(r *reply) { r.without(false) }, Silent, "nothing says that west is"},
		"a part, and no warning": {func(r *reply) { r.without(true); r.unwarned = true }, Silent, "no warning"},
		"a part, and another is named": {func(r *reply) { r.without(true); r.usage, r.figures = r.usage[2:], r.figures[2:] }, Silent,
			"east is"},
		"one Pod of a member lacks": {func(r *reply) { r.usage, r.figures = r.usage[1:], r.figures[1:] }, Silent, "east"},
		"a member is not mentioned": {func(r *reply) { r.coverage.Answered = []string{"east", "west"} }, Silent,
			"does not speak of north"},
		"a header that cannot be read":     {func(r *reply) { r.header = ";?" }, Silent, "cannot be read"},
		"a Pod that never existed":         {func(r *reply) { r.rename("web-7") }, WrongPod, "never existed"},
		"a Pod that is gone for long":      {func(r *reply) { r.rename("old-0") }, WrongPod, "is gone"},
		"a Pod that nobody asked for":      {func(r *reply) { r.rename("young-0") }, WrongPod, "was not asked for"},
		"a Pod of no cluster":              {func(r *reply) { r.move("") }, WrongPod, "never existed"},
		"a Pod twice, in place of another": {func(r *reply) { r.move("north") }, WrongPod, "is there twice"},
		"a Pod too many":                   {func(r *reply) { r.add("late-0") }, WrongPod, "was not asked for"},
	} {
		t.Run(name, func(t *testing.T) {
			j, asked := world(t), Asked{"shop", labels.SelectorFromSet(labels.Set{"app": "web"})}
			r := honest()
			tc.lie(r)
			for kind, got := range map[string]Judgement{
				"usage": j.Usage(asked, r.answer(t, metricsv1beta1.PodMetricsList{TypeMeta: typed("metrics.k8s.io/v1beta1", "PodMetricsList"),
					Items: r.usage})),
				"figures": j.Figures(asked,
					r.answer(t, customv1beta2.MetricValueList{TypeMeta: typed("custom.metrics.k8s.io/v1beta2", "MetricValueList"), Items: r.figures})),
			} {
				if got.Verdict != tc.want || !strings.Contains(got.Because, tc.why) {
					t.Errorf("%s: %q because %q, want %q because %q", kind, got.Verdict, got.Because, tc.want, tc.why)
				}
			}
		})
	}
}

// What a member says of its own Pods is its own affair, but it must not speak for others.
func TestWhoIsDistrustedIsJudgedLess(t *testing.T) {
	mallory := func(namespace, name string) metricsv1beta1.PodMetrics {
		lie := usageOf("mallory", name, now)
		lie.Namespace, lie.Containers = namespace, nil
		return lie
	}
	for name, tc := range map[string]struct {
		lies     []metricsv1beta1.PodMetrics
		answered bool
		want     Verdict
	}{
		"a Pod that nobody knows": {[]metricsv1beta1.PodMetrics{mallory("shop", "none")}, true, Right},
		"nothing":                 {nil, true, Right},
		"not mentioned":           {nil, false, Silent},
		"of no namespace":         {[]metricsv1beta1.PodMetrics{mallory("", "none")}, true, Right},
		"of another namespace":    {[]metricsv1beta1.PodMetrics{mallory("bank", "none")}, true, WrongPod},
		"a Pod twice":             {[]metricsv1beta1.PodMetrics{mallory("shop", "none"), mallory("shop", "none")}, true, WrongPod},
	} {
		t.Run(name, func(t *testing.T) {
			j, r := world(t), honest()
			j.pods.Distrust("mallory")
			r.usage = append(r.usage, tc.lies...)
			if tc.answered {
				r.coverage.Answered = []string{"east", "mallory", "north", "west"}
			}
			a := r.answer(t, metricsv1beta1.PodMetricsList{TypeMeta: typed("metrics.k8s.io/v1beta1", "PodMetricsList"), Items: r.usage})
			if got := j.Usage(Asked{"shop", labels.Everything()}, a); got.Verdict != tc.want {
				t.Errorf("%v, want %q", got, tc.want)
			}
		})
	}
}

func typed(version, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version, Kind: kind}
}

// rename has the first item be of another Pod, move of another cluster.
func (r *reply) rename(name string) {
	r.usage[0].Name, r.figures[0].DescribedObject.Name = name, name
}

func (r *reply) move(cluster string) {
	r.usage[0].Labels[fleet.ClusterLabel], r.figures[0].Metric.Selector.MatchLabels[fleet.ClusterLabel] = cluster, cluster
}

func (r *reply) add(name string) {
	r.usage, r.figures = append(r.usage, r.usage[0]), append(r.figures, r.figures[0])
	r.rename(name)
}

func TestFiguresOfPodsAreJudged(t *testing.T) {
	r := honest()
	r.figures[3].Value = *resource.NewMilliQuantity(figure+1, resource.DecimalSI)
	a := r.answer(t, customv1beta2.MetricValueList{TypeMeta: typed("custom.metrics.k8s.io/v1beta2", "MetricValueList"), Items: r.figures})
	if got := world(t).Figures(Asked{"shop", labels.Everything()}, a); got.Verdict != WrongValue {
		t.Errorf("%v", got)
	}
}

func TestPodsComeAndGo(t *testing.T) {
	j, everything := world(t), Asked{"shop", labels.Everything()}
	r := honest()
	list := func() Answer {
		return r.answer(t, metricsv1beta1.PodMetricsList{TypeMeta: typed("metrics.k8s.io/v1beta1", "PodMetricsList"), Items: r.usage})
	}
	if got := j.Usage(everything, list()); got.Verdict != Right {
		t.Errorf("what came and went a moment ago is missing: %v", got)
	}
	r.usage = append(r.usage, usageOf("east", "late-0", now.Add(-20*time.Second)), usageOf("east", "young-0", now))
	if got := j.Usage(everything, list()); got.Verdict != Right {
		t.Errorf("what came and what went a moment ago is there: %v", got)
	}
	r.usage = append(r.usage, usageOf("east", "old-0", now))
	if got := j.Usage(everything, list()); got.Verdict != WrongPod {
		t.Errorf("what went two minutes ago is there: %v", got)
	}
	came := func(since time.Time) error {
		return j.pods.Change(func(c *Changes) error {
			c.Came(Pod{ID: ID{"east", "shop", "old-0"}}, since)
			return nil
		})
	}
	if err := came(now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got := j.Usage(everything, list()); got.Verdict != WrongPod {
		t.Errorf("what is not there yet is there: %v", got)
	}
	err := came(now.Add(-time.Second))
	if got := j.Usage(everything, list()); err != nil || got.Verdict != Right {
		t.Errorf("a name came again: %v, %v", got, err)
	}
}

func TestMeasurementsAreJudged(t *testing.T) {
	for name, tc := range map[string]struct {
		asked time.Time
		lie   func(m *metricsv1beta1.PodMetrics)
		want  Verdict
	}{
		"of now":               {now, nil, Right},
		"of a minute ago":      {now.Add(-maxAge), nil, Right},
		"the last that may be": {now.Add(-maxAge - resolution + 301*time.Millisecond), nil, Right},
		"the one before":       {now.Add(-maxAge - resolution - 1*time.Millisecond), nil, WrongValue},
		"of the future":        {now.Add(resolution), nil, WrongValue},
		"of no measurement": {now, func(m *metricsv1beta1.PodMetrics) { m.Timestamp = metav1.NewTime(m.Timestamp.Add(time.Second)) },
			WrongValue},
		"a time without its values": {now, func(m *metricsv1beta1.PodMetrics) { m.Containers = used(4) }, WrongValue},
		"memory of another": {now, func(m *metricsv1beta1.PodMetrics) {
			m.Containers[0].Usage[corev1.ResourceMemory] = resource.MustParse("2Mi")
		}, WrongValue},
		"a container less": {now, func(m *metricsv1beta1.PodMetrics) { m.Containers = nil }, WrongValue},
	} {
		t.Run(name, func(t *testing.T) {
			r := honest()
			r.usage[3] = usageOf("north", "web-1", tc.asked)
			if tc.lie != nil {
				tc.lie(&r.usage[3])
			}
			a := r.answer(t, metricsv1beta1.PodMetricsList{TypeMeta: typed("metrics.k8s.io/v1beta1", "PodMetricsList"), Items: r.usage})
			if got := world(t).Usage(Asked{"shop", labels.Everything()}, a); got.Verdict != tc.want {
				t.Errorf("%v, want %q", got, tc.want)
			}
		})
	}
}

func TestSumsAreJudged(t *testing.T) {
	said := map[string]int64{"east": 1000, "north": 2000, "west": 4000}
	for name, tc := range map[string]struct {
		milli int64
		lie   func(r *reply)
		want  Verdict
	}{
		"the whole":                  {7000, func(*reply) {}, Right},
		"less, as if it were whole":  {3000, func(*reply) {}, Silent},
		"more than there is":         {7001, func(*reply) {}, WrongValue},
		"a part, and said":           {3000, func(r *reply) { r.without(true) }, Partial},
		"another part than was said": {5000, func(r *reply) { r.without(true) }, WrongValue},
	} {
		t.Run(name, func(t *testing.T) {
			r := honest()
			tc.lie(r)
			one := customv1beta2.MetricValue{Value: *resource.NewMilliQuantity(tc.milli, resource.DecimalSI)}
			list := customv1beta2.MetricValueList{TypeMeta: typed("custom.metrics.k8s.io/v1beta2", "MetricValueList"),
				Items: []customv1beta2.MetricValue{one}}
			a := r.answer(t, list)
			if got := world(t).Sum(said, a); got.Verdict != tc.want {
				t.Errorf("%v, want %q", got, tc.want)
			}
			some := map[string]int64{"east": said["east"], "west": said["west"]}
			if r.coverage.Answered = []string{"east", "west"}; tc.want == Right {
				list.Items[0].Value = *resource.NewMilliQuantity(5000, resource.DecimalSI)
				if got := world(t).Sum(some, r.answer(t, list)); got.Verdict != Right {
					t.Errorf("only two were asked: %v", got)
				}
			}
			list.Items = append(list.Items, one)
			if got := world(t).Sum(some, r.answer(t, list)); got.Verdict != Broken {
				t.Errorf("two figures of one object: %v", got)
			}
		})
	}
}

func TestSeriesAreJudged(t *testing.T) {
	said := map[string][]Series{"east": {{"queue=mail", 5}, {"shard=east", 1}}, "north": {{"queue=mail", 5}},
		"west": {{"queue=mail", 9}, {"shard=west", 2}}}
	all := []Series{{"queue=mail", 9}, {"shard=east", 1}, {"shard=west", 2}}
	for name, tc := range map[string]struct {
		series []Series
		lie    func(r *reply)
		want   Verdict
	}{
		"the whole":               {all, func(*reply) {}, Right},
		"a series less":           {all[:2], func(*reply) {}, Silent},
		"not the largest":         {[]Series{{"queue=mail", 5}, all[1], all[2]}, func(*reply) {}, Silent},
		"a sum":                   {[]Series{{"queue=mail", 19}, all[1], all[2]}, func(*reply) {}, WrongValue},
		"a series twice":          {append(all, all[0]), func(*reply) {}, WrongValue},
		"a part, and said":        {[]Series{{"queue=mail", 5}, all[1]}, func(r *reply) { r.without(true) }, Partial},
		"one of who is not there": {all, func(r *reply) { r.without(true) }, WrongValue},
	} {
		t.Run(name, func(t *testing.T) {
			r := honest()
			tc.lie(r)
			list := externalv1beta1.ExternalMetricValueList{TypeMeta: typed("external.metrics.k8s.io/v1beta1", "ExternalMetricValueList")}
			for _, s := range tc.series {
				key, value, _ := strings.Cut(s.Labels, "=")
				list.Items = append(list.Items, externalv1beta1.ExternalMetricValue{MetricLabels: map[string]string{key: value},
					Value: *resource.NewMilliQuantity(s.Value, resource.DecimalSI)})
			}
			if got := world(t).Series(said, r.answer(t, list)); got.Verdict != tc.want {
				t.Errorf("%v, want %q", got, tc.want)
			}
		})
	}
}

func TestRefusalsNeedAReason(t *testing.T) {
	for name, tc := range map[string]struct {
		a    Answer
		want Verdict
	}{
		"503 with a reason":    {Answer{Code: 503, Body: []byte("west (Timeout)")}, Refused},
		"429 with a reason":    {Answer{Code: 429, Body: []byte("too much")}, Refused},
		"503 without one":      {Answer{Code: 503}, Broken},
		"500":                  {Answer{Code: 500, Body: []byte("panic")}, Broken},
		"404 of what there is": {Answer{Code: 404, Body: []byte("not found")}, Broken},
		"a broken connection":  {Answer{Err: errors.New("reset")}, Unanswered},
		"garbage":              {Answer{Code: 200, Body: []byte("<html>")}, Broken},
		"another kind": {Answer{Code: 200, Body: []byte(`{"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2"}`)},
			Broken},
	} {
		t.Run(name, func(t *testing.T) {
			if got := world(t).Usage(Asked{"shop", labels.Everything()}, tc.a); got.Verdict != tc.want {
				t.Errorf("%v, want %q", got, tc.want)
			}
		})
	}
}

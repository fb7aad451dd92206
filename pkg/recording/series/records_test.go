// SPDX-License-Identifier: Apache-2.0

package series

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/common/model"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

var start = time.Date(2027, 3, 1, 9, 30, 0, 0, time.UTC)

// past is what a Prometheus scrapes: every 15 s a text, of lines METRIC{LABELS} VALUE.
type past struct{ matrix model.Matrix }

func (p *past) scrape(second int, lines string) *past {
	at := model.TimeFromUnixNano(start.Add(time.Duration(second) * time.Second).UnixNano())
	for _, line := range strings.Split(lines, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, rest, _ := strings.Cut(line, "{")
		labels, number, _ := strings.Cut(rest, "} ")
		metric := model.Metric{model.MetricNameLabel: model.LabelValue(prefix + name), "name": "cart", "namespace": "shop"}
		for _, pair := range strings.Split(labels, ",") {
			if key, value, found := strings.Cut(pair, "="); found {
				metric[model.LabelName(key)] = model.LabelValue(value)
			}
		}
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			panic("no series: " + line)
		}
		p.matrix = append(p.matrix, &model.SampleStream{
			Metric: metric, Values: []model.SamplePair{{Timestamp: at, Value: model.SampleValue(value)}},
		})
	}
	return p
}

// decided is a scrape of a decision on cart: by cpu, of which its Pods use that many percent of the 500m that each requests.
func decided(second, current, desired, percent int, more ...string) string {
	return fmt.Sprintf(`spec_min_replicas{} 2
		spec_max_replicas{} 12
		current_replicas{} %[2]d
		desired_replicas{} %[3]d
		mode{mode=Active} 1
		decision_timestamp_seconds{} %[1]d.25
		unseen_clusters{} 0
		cluster_replicas{cluster=east,kind=current} %[2]d
		cluster_replicas{cluster=east,kind=ready} %[2]d
		metric_target{index=0,metric=cpu} 0.5
		metric_pods{index=0,metric=cpu,kind=counted} %[2]d
		metric_pods{index=0,metric=cpu,kind=unready} 0
		metric_pods{index=0,metric=cpu,kind=missing} 0
		metric_pods{index=0,metric=cpu,kind=unlisted} 0
		metric_amount{index=0,metric=cpu,kind=used} %[4]v
		metric_amount{index=0,metric=cpu,kind=requested} %[5]v
		metric_amount{index=0,metric=cpu,kind=unready_requested} 0
		metric_amount{index=0,metric=cpu,kind=missing_requested} 0
		metric_amount{index=0,metric=cpu,kind=busy} 0
		%[6]s`, start.Unix()+int64(second)-3, current, desired, float64(current*percent)*0.005, float64(current)*0.5, strings.Join(more, "\n"))
}

// without is a scrape without a metric.
func without(metric, lines string) string {
	var left []string
	for _, line := range strings.Split(lines, "\n") {
		if !strings.HasPrefix(strings.TrimSpace(line), metric+"{") {
			left = append(left, line)
		}
	}
	return strings.Join(left, "\n")
}

func ofCart() Of {
	f := &v1alpha1.FederatedHPA{}
	f.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "cart"}
	f.Spec.MinReplicas, f.Spec.MaxReplicas = new(int32(1)), 40 // as they are now
	f.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
		Name:   corev1.ResourceCPU,
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(80))},
	}}}
	v1alpha1.DefaultFederatedHPA(f)
	return Of{
		Object: recording.Object{Namespace: "shop", Name: "cart", UID: "1"}, Spec: &f.Spec,
		Options: replicas.Options{StabilizationWindow: 5 * time.Minute, Tolerance: 0.1},
	}
}

// line is a record in short: when, the bounds and the target, from how many, decided, after; the outcome; whether what the metrics said is
// told, and what it is decided on again.
func line(r *recording.Record) string {
	told := "untold"
	if len(r.Question.Metrics) > 0 {
		told = fmt.Sprint("again ", replicas.Decide(r.Question).Replicas)
	}
	return fmt.Sprintf("%v %d..%d %d%% %d>%d>%d %d %s", r.Question.Now.Sub(start), *r.Spec.MinReplicas, r.Spec.MaxReplicas,
		*r.Spec.Metrics[0].Resource.Target.AverageUtilization, r.Question.Scale.Replicas, r.Decided, r.After, r.Outcome, told)
}

func TestRecords(t *testing.T) {
	calm := func(second int) string { return decided(second, 4, 4, 50) }
	tests := map[string]struct {
		past *past
		want []string
	}{
		"a change, then rest": {
			(&past{}).scrape(0, calm(0)).scrape(15, decided(15, 4, 7, 80)).scrape(30, decided(30, 7, 7, 46)).scrape(45, decided(30, 7, 7, 46)),
			[]string{"0s 2..12 50% 4>4>4 0 again 4", "12.25s 2..12 50% 4>7>7 1 again 7", "27.25s 2..12 50% 7>7>7 0 again 7",
				"42.25s 2..12 50% 7>7>7 0 again 7"},
		},
		"a change that is scraped twice": {
			(&past{}).scrape(0, decided(0, 4, 7, 80)).scrape(15, decided(0, 4, 7, 80)).scrape(30, decided(30, 7, 7, 46)),
			[]string{"0s 2..12 50% 4>7>7 1 again 7", "27.25s 2..12 50% 7>7>7 0 again 7"},
		},
		"decisions that are told of late, after rest": {
			(&past{}).scrape(0, decided(0, 4, 4, 50)).scrape(15, decided(0, 4, 4, 50)).scrape(30, decided(0, 4, 4, 50)).
				scrape(45, decided(23, 4, 7, 80)).scrape(60, decided(38, 7, 7, 46)),
			[]string{"0s 2..12 50% 4>4>4 0 again 4", "5.25s 2..12 50% 4>4>4 0 again 4", "20.25s 2..12 50% 4>7>7 1 again 7",
				"35.25s 2..12 50% 7>7>7 0 again 7"},
		},
		"decisions that are told of late from the beginning": {
			(&past{}).scrape(0, decided(-20, 4, 4, 50)).scrape(15, decided(-5, 4, 7, 80)).scrape(30, decided(10, 7, 7, 46)),
			[]string{"-22.75s 2..12 50% 4>4>4 0 again 4", "-7.75s 2..12 50% 4>7>7 1 again 7", "7.25s 2..12 50% 7>7>7 0 again 7"},
		},
		"one that could not be written": {
			(&past{}).scrape(0, decided(0, 4, 7, 80)).scrape(15, decided(15, 4, 7, 80)),
			[]string{"0s 2..12 50% 4>7>4 2 again 7", "12.25s 2..12 50% 4>7>7 1 again 7"},
		},
		"changes between two scrapes are its own": {
			(&past{}).scrape(0, calm(0)).scrape(60, decided(60, 9, 9, 50)),
			[]string{"0s 2..12 50% 4>4>9 1 again 4", "57.25s 2..12 50% 9>9>9 0 again 9"},
		},
		"after a pause they are another's": {
			(&past{}).scrape(0, calm(0)).scrape(1200, decided(1200, 9, 9, 50)),
			[]string{"0s 2..12 50% 4>4>4 0 again 4", "19m57.25s 2..12 50% 9>9>9 0 again 9"},
		},
		"an edit by which nothing was decided yet": {
			(&past{}).scrape(0, calm(0)).scrape(15, decided(15, 4, 7, 80)).
				scrape(30, without("decision_timestamp_seconds", strings.Replace(decided(30, 7, 7, 46), "replicas{} 12", "replicas{} 5", 1))).
				scrape(45, strings.Replace(decided(30, 7, 5, 46), "replicas{} 12", "replicas{} 5", 1)).
				scrape(60, strings.Replace(decided(45, 5, 5, 46), "replicas{} 12", "replicas{} 5", 1)),
			[]string{"0s 2..12 50% 4>4>4 0 again 4", "12.25s 2..12 50% 4>7>7 1 again 7", "27.25s 2..5 50% 7>5>5 1 untold",
				"42.25s 2..5 50% 5>5>5 0 again 5"},
		},
		"an edit at rest, before which it was decided once more": {
			(&past{}).scrape(0, calm(0)).scrape(15, decided(15, 4, 4, 52)).
				scrape(30, without("decision_timestamp_seconds", strings.Replace(decided(15, 4, 4, 52), "replicas{} 12", "replicas{} 20", 1))).
				scrape(45, strings.Replace(decided(45, 4, 4, 52), "replicas{} 12", "replicas{} 20", 1)),
			[]string{"0s 2..12 50% 4>4>4 0 again 4", "12.25s 2..12 50% 4>4>4 0 again 4", "27.25s 2..12 50% 4>4>4 0 again 4",
				"42.25s 2..20 50% 4>4>4 0 again 4"},
		},
		"a version that tells when, after one that does not": {
			(&past{}).scrape(0, without("decision_timestamp_seconds", calm(0))).scrape(15, without("decision_timestamp_seconds", calm(15))).
				scrape(30, decided(15, 4, 7, 80)).scrape(45, decided(30, 7, 7, 46)),
			[]string{"0s 2..12 50% 4>4>4 0 again 4", "12.25s 2..12 50% 4>7>7 1 again 7", "27.25s 2..12 50% 7>7>7 0 again 7"},
		},
		"a version that does not tell": {
			(&past{}).scrape(0, without("metric_amount", calm(0))).scrape(15, without("unseen_clusters", calm(15))).
				scrape(30, strings.ReplaceAll(calm(30), "metric=cpu", "metric=queue")).scrape(45,
				calm(45)+"\nmetric_amount{index=0,metric=cpu,kind=value} 3").
				scrape(60, strings.ReplaceAll(calm(60), "kind=busy} 0", "kind=busy} NaN")),
			[]string{"0s 2..12 50% 4>4>4 0 untold", "12.25s 2..12 50% 4>4>4 0 untold", "27.25s 2..12 50% 4>4>4 0 untold",
				"42.25s 2..12 50% 4>4>4 0 untold", "57.25s 2..12 50% 4>4>4 0 untold"},
		},
		"by bounds nothing needs to be told": {
			(&past{}).scrape(0, without("metric_amount", decided(0, 14, 12, 50))),
			[]string{"0s 2..12 50% 14>12>12 1 untold"},
		},
		"observed": {
			(&past{}).scrape(0, strings.ReplaceAll(decided(0, 4, 7, 80), "mode=Active", "mode=Observe")).
				scrape(15, strings.ReplaceAll(decided(15, 4, 7, 80), "mode=Active", "mode=Observe")),
			[]string{"0s 2..12 50% 4>7>4 3 again 7", "12.25s 2..12 50% 4>7>4 3 again 7"},
		},
		"a target and a bound of then": {
			(&past{}).scrape(0, calm(0)).scrape(15, strings.NewReplacer("metric=cpu} 0.5\n", "metric=cpu} 0.8\n",
				"spec_max_replicas{} 12", "spec_max_replicas{} 20").Replace(decided(15, 5, 5, 80))),
			[]string{"0s 2..12 50% 4>4>5 1 again 4", "12.25s 2..20 80% 5>5>5 0 again 5"},
		},
		"of two leaders the one that decided last": {
			(&past{}).scrape(0, calm(0)).scrape(15, calm(0)).
				scrape(15, strings.ReplaceAll(decided(15, 4, 7, 80), "} ", ",instance=b} ")),
			[]string{"0s 2..12 50% 4>4>4 0 again 4", "12.25s 2..12 50% 4>7>7 1 again 7"},
		},
		"paused, split, or not whole": {
			(&past{}).scrape(0, strings.ReplaceAll(calm(0), "mode=Active", "mode=Paused")).
				scrape(15, calm(15)+"\ncluster_replicas{cluster=east,kind=assigned_max} 4").scrape(30, without("current_replicas", calm(30))).
				scrape(45, strings.ReplaceAll(calm(45), "desired_replicas{} 4", "desired_replicas{} 1e300")),
			nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range Records(ofCart(), Moments(tc.past.matrix)) {
				got = append(got, line(r))
			}
			fleettest.Same(t, "records", tc.want, got)
		})
	}
}

func TestLacking(t *testing.T) {
	for _, tc := range []struct {
		lines      string
		need, tell []string
	}{
		{decided(0, 4, 4, 50), nil, nil},
		{without("unseen_clusters", without("desired_replicas", decided(0, 4, 4, 50))), []string{prefix + desiredReplicas},
			[]string{prefix + unseenClusters}},
		{"", []string{prefix + specMin, prefix + specMax, prefix + currentReplicas, prefix + desiredReplicas},
			[]string{prefix + unseenClusters, prefix + metricPods, prefix + metricAmount}},
	} {
		seen := map[model.LabelValue]bool{}
		for _, s := range (&past{}).scrape(0, tc.lines).matrix {
			seen[s.Metric[model.MetricNameLabel]] = true
		}
		need, tell := Lacking(seen)
		fleettest.Same(t, "", [][]string{tc.need, tc.tell}, [][]string{need, tell}, cmpopts.EquateEmpty())
	}
}

// A new leader, or one that was restarted, does not return; two hubs do, whenever the other has not decided since.
func TestReturns(t *testing.T) {
	by := func(instance string, second int) string {
		return strings.ReplaceAll(decided(second, 4, 4, 50), "} ", ",instance="+instance+"} ")
	}
	for tellers, want := range map[string]int{"aaaa": 0, "aabb": 0, "abcd": 0, "abba": 1, "abab": 2, "": 0} {
		p := &past{}
		for i, teller := range tellers {
			p.scrape(15*i, by(string(teller), 15*i))
		}
		if got := Returns(Moments(p.matrix)); got != want {
			t.Errorf("%q: %d, want %d", tellers, got, want)
		}
	}
}

// A label of ours is read also where the target has one of its name, which a scraper without honor_labels keeps.
func TestRenamedLabels(t *testing.T) {
	var pairs []string
	for _, name := range []string{"cluster", "kind", "index", "metric", "mode"} {
		pairs = append(pairs, name+"=", name+"=9,exported_"+name+"=")
	}
	text := decided(0, 4, 4, 50)
	all := Moments((&past{}).scrape(0, text).scrape(15, strings.NewReplacer(pairs...).Replace(text)).matrix)
	if len(all) != 2 {
		t.Fatalf("%d moments", len(all))
	}
	all[1].at = all[0].at
	if a, b := fmt.Sprint(all[0]), fmt.Sprint(all[1]); a != b {
		t.Errorf("%s\n%s", a, b)
	}
}

// What is told is decided again as it was, also of a cluster that could not be seen, and what is not told has no metrics.
func TestDecisionsAgain(t *testing.T) {
	p := (&past{}).scrape(0, decided(0, 4, 4, 50)).scrape(15, decided(15, 4, 7, 80))
	p.scrape(30, strings.ReplaceAll(decided(30, 7, 7, 20), "unseen_clusters{} 0", "unseen_clusters{} 1"))
	p.scrape(45, without("metric_pods", decided(45, 7, 7, 20))).scrape(60, decided(60, 7, 7, 50))
	var got []string
	for _, r := range Records(ofCart(), Moments(p.matrix)) {
		if len(r.Question.Metrics) == 0 {
			got = append(got, "not told")
			continue
		}
		d := replicas.Decide(r.Question)
		got = append(got, fmt.Sprintf("%d>%d unseen %d held %v", r.Question.Scale.Replicas, d.Replicas, len(d.Explanation.Unseen),
			d.Explanation.Held))
	}
	want := []string{"4>4 unseen 0 held false", "4>7 unseen 0 held false", "7>7 unseen 1 held true", "not told", "7>7 unseen 0 held false"}
	fleettest.Same(t, "", want, got)
}

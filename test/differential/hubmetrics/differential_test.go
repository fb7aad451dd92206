// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"

	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

var (
	seed      = flag.Uint64("seed", 0, "what questions and answers are drawn by; 0: the time")
	questions = flag.Int("questions", enough, "how many questions are compared")
)

// What is rarest is nearly always reached often in enough questions; where it is not, more are asked, and most are so
// many times enough that it is for every seed.
const (
	some   = 5_000 // in the short form, which does not ask how often
	enough = 20_000
	often  = 20
	most   = 5
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // clients log what cannot be read
	m.Run()
}

func TestAnswersAreThoseOfKubernetes(t *testing.T) {
	seed := *seed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	if testing.Short() {
		*questions = min(*questions, some)
	}
	t.Logf("-seed %d", seed)
	seen := map[string]int{}
	number := 0
	ask := func(until int) {
		for ; number < until; number++ {
			if difference := compare(t, seed, uint64(number), seen); difference != "" {
				t.Fatalf("-seed %d, question %d: %s", seed, number, difference)
			}
		}
	}
	ask(*questions)
	if *questions < enough {
		return
	}
	for len(lacking(seen)) > 0 && number < most*enough {
		ask(number + enough/10)
	}
	for _, what := range lacking(seen) {
		t.Errorf("-seed %d: reached only %d times in %d questions: %s", seed, seen[what], number, what)
	}
}

// lacking are the outcomes that were not reached often.
func lacking(seen map[string]int) []string {
	return slices.DeleteFunc(slices.Clone(outcomes), func(what string) bool { return seen[what] >= often })
}

func FuzzAsk(f *testing.F) {
	for number := range uint64(10) {
		f.Add(number, number)
	}
	f.Fuzz(func(t *testing.T, seed, number uint64) {
		if difference := compare(t, seed, number, map[string]int{}); difference != "" {
			t.Fatalf("-seed %d, question %d: %s", seed, number, difference)
		}
	})
}

// outcomes are what must have been compared: kinds of metrics, and words of errors.
var outcomes = []string{
	"Resource: values", "ContainerResource: values", "Pods: values", "Object: values", "External: values",
	"Resource: values of several clusters", "Pods: values of several clusters", "in v1beta1", "in v1beta2",
	"unable to fetch metrics from resource metrics API: ", "unable to fetch metrics from custom metrics API: ",
	"unable to fetch metrics from external metrics API: ",
	"no metrics returned from resource metrics API", "no metrics returned from custom metrics API",
	"no metrics returned from external metrics API",
	"no custom metrics API (custom.metrics.k8s.io) registered", "no known available metric versions found",
	"unable to map kind Shop to resource", "invalid resource name",
	"results when we asked for exactly one", "the custom metrics API server didn't return MetricValueList", "0-length response",
	"serializer for",
	"2 of 3 clusters did not answer", "has asked us to try again later", "is currently unable to handle the request",
	"could not find the requested resource", "unexpected EOF",
	"connection refused", "the connection broke",
}

// compare puts one question to both, and says where they differ.
func compare(t testing.TB, seed, number uint64, seen map[string]int) string {
	t.Helper()
	d := dice{rand.New(rand.NewPCG(seed, number))}
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	h := &hub{versions: d.groups()}
	q := hubmetrics.Question{Namespace: "shop", Metric: d.metric(), Selector: d.podSelector(), Clusters: []string{"east"}}
	if d.oneIn(3) {
		q.Clusters = marked
	}
	h.answer = d.answerTo(scheme, h, &q)
	ours, err := h.ours()
	if err != nil {
		t.Fatal(err)
	}
	got := ours.Ask(t.Context(), q)
	gotAsked := h.take()
	want := ask(t.Context(), h.theirs(), &q)
	wantAsked := h.take()
	note(seen, &q, gotAsked, want)
	return strings.Join(slices.DeleteFunc([]string{
		cmp.Diff(wantAsked, gotAsked), cmp.Diff(want, plain(got)),
	}, func(s string) bool { return s == "" }), "\n") + about(&q, h, wantAsked != gotAsked || !cmp.Equal(want, plain(got)))
}

func about(q *hubmetrics.Question, h *hub, differ bool) string {
	if !differ {
		return ""
	}
	return fmt.Sprintf("\nquestion: %+v\nversions: %v\nanswer: %d %q %.2000q", q.Metric, h.versions, h.answer.code, h.answer.kind,
		h.answer.body)
}

// outcome is what either made of the answer.
type outcome struct {
	Err    string
	Pods   map[string]replicas.Sample
	Values []int64
}

// plain forgets clusters.
func plain(m replicas.Metric) outcome {
	o := outcome{Values: m.Values}
	if m.Err != nil {
		o.Err = m.Err.Error()
	}
	if m.Pods != nil {
		o.Pods = map[string]replicas.Sample{}
	}
	for _, pods := range m.Pods {
		maps.Copy(o.Pods, pods)
	}
	return o
}

// ask puts the question to Kubernetes' client as its controller does.
func ask(ctx context.Context, client metrics.MetricsClient, q *hubmetrics.Question) (o outcome) {
	var err error
	var pods metrics.PodMetricsInfo
	switch m := q.Metric; m.Type {
	case autoscalingv2.ResourceMetricSourceType:
		pods, _, err = client.GetResourceMetric(ctx, m.Resource.Name, q.Namespace, q.Selector, "")
	case autoscalingv2.ContainerResourceMetricSourceType:
		pods, _, err = client.GetResourceMetric(ctx, m.ContainerResource.Name, q.Namespace, q.Selector, m.ContainerResource.Container)
	case autoscalingv2.PodsMetricSourceType:
		pods, _, err = client.GetRawMetric(m.Pods.Metric.Name, q.Namespace, q.Selector, selectorOf(m.Pods.Metric))
	case autoscalingv2.ObjectMetricSourceType:
		var value int64
		value, _, err = client.GetObjectMetric(m.Object.Metric.Name, q.Namespace, &m.Object.DescribedObject, selectorOf(m.Object.Metric))
		o.Values = []int64{value}
	default:
		o.Values, _, err = client.GetExternalMetric(m.External.Metric.Name, q.Namespace, selectorOf(m.External.Metric))
	}
	if err != nil {
		return outcome{Err: err.Error()}
	}
	if pods != nil {
		o.Pods = map[string]replicas.Sample{}
	}
	for pod, m := range pods {
		o.Pods[pod] = replicas.Sample{Value: m.Value, At: m.Timestamp, Window: m.Window}
	}
	return o
}

func selectorOf(m autoscalingv2.MetricIdentifier) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(m.Selector)
	if err != nil {
		panic(err)
	}
	return selector
}

// note counts what was compared.
func note(seen map[string]int, q *hubmetrics.Question, asked string, o outcome) {
	for _, version := range []string{"v1beta1", "v1beta2"} {
		if strings.Contains(asked, "/custom.metrics.k8s.io/"+version) && o.Err == "" {
			seen["in "+version]++
		}
	}
	if o.Err == "" {
		seen[string(q.Metric.Type)+": values"]++
		if len(q.Clusters) > 1 && len(o.Pods) > 1 {
			seen[string(q.Metric.Type)+": values of several clusters"]++
		}
		return
	}
	for _, words := range outcomes {
		if strings.Contains(o.Err, words) {
			seen[words]++
		}
	}
}

func (d dice) podSelector() labels.Selector {
	return of(d, labels.Everything(), labels.SelectorFromSet(labels.Set{"app": "web"}), labels.SelectorFromSet(labels.Set{"b": "2", "a": "1"}))
}

func (d dice) metric() autoscalingv2.MetricSpec {
	name := of(d, corev1.ResourceCPU, corev1.ResourceMemory)
	metric := autoscalingv2.MetricIdentifier{
		Name: of(d, "rps", "rps", "rps", "rps", "rps", "a/b", "50%", "..", "größe", "a b"),
		Selector: of(d, nil, &metav1.LabelSelector{}, &metav1.LabelSelector{MatchLabels: map[string]string{"queue": "mail", "b": "c"}},
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "queue", Operator: metav1.LabelSelectorOpIn,
				Values: []string{"b", "a"}}}}),
	}
	switch d.IntN(5) {
	case 0:
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: name}}
	case 1:
		source := &autoscalingv2.ContainerResourceMetricSource{Name: name, Container: of(d, "app", "proxy", "none")}
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ContainerResourceMetricSourceType, ContainerResource: source}
	case 2:
		return autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{Metric: metric}}
	case 3:
		source := &autoscalingv2.ObjectMetricSource{Metric: metric, DescribedObject: autoscalingv2.CrossVersionObjectReference{
			APIVersion: of(d, "v1", "apps/v1", "apps/v9", "", "a/b/c"), Kind: of(d, "Service", "Deployment", "Node", "Namespace", "Shop"),
			Name: of(d, "web", "web", "web", "a/b"),
		}}
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ObjectMetricSourceType, Object: source}
	default:
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType,
			External: &autoscalingv2.ExternalMetricSource{Metric: metric}}
	}
}

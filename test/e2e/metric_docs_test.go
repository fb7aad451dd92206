// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/test/lab"
)

// An example of docs/metrics.md: what its text says of the clusters, and what
// comes of it.
type example struct {
	figures  map[string][]lab.Figure // by member
	series   map[string][]lab.Series
	replicas int32
}

func examples() map[string]example {
	object := func(kind, object, metric, value string) lab.Figure {
		f := figureOf(kind, object, metric, value)
		f.Namespace = documented
		return f
	}
	queue := func(metric, name, value string) []lab.Series {
		return []lab.Series{{Metric: metric, Labels: map[string]string{"queue": name}, Value: resource.MustParse(value)}}
	}
	mail := queue("queue_messages", "mail", "90")
	return map[string]example{
		"api": {replicas: 4, figures: map[string][]lab.Figure{
			"member1": {object("services", "api", "requests_per_second", "120")},
			"member2": {object("services", "api", "requests_per_second", "80")},
		}},
		"gateway": {replicas: 4, figures: map[string][]lab.Figure{ // above the limit all the time
			"member1": {object("ingresses.networking.k8s.io", "gateway", "latency_p95_seconds", "90m")},
			"member2": {object("ingresses.networking.k8s.io", "gateway", "latency_p95_seconds", "400m")},
		}},
		"mailer": {replicas: 3, series: map[string][]lab.Series{"member1": mail, "member2": mail, "member3": mail}},
		"printer": {replicas: 3, series: map[string][]lab.Series{"member1": queue("local_queue_messages", "print", "50"),
			"member2": queue("local_queue_messages", "print", "40")}},
		"canary": {replicas: 2, figures: map[string][]lab.Figure{
			"member1": {object("services", "canary", "requests_per_second", "100")},
			"member2": {object("services", "canary", "requests_per_second", "900")},
		}},
		"worker": {replicas: 3, figures: map[string][]lab.Figure{
			"member1": {object("pods", "worker-0", "jobs_in_progress", "15"), object("pods", "worker-1", "jobs_in_progress", "15")},
			"member2": {object("pods", "worker-0", "jobs_in_progress", "77")},
		}},
	}
}

const documented = "documented"

// The autoscalers that docs/metrics.md shows are taken as they stand there, and
// the hub's own controller decides by them what the text says.
func TestDocumentedAutoscalers(t *testing.T) {
	e := whole(t)
	all := e.documentedAutoscalers(t)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(examples())), slices.Sorted(maps.Keys(all))); diff != "" {
		t.Fatalf("examples that are known here (-), and in the text (+):\n%s", diff)
	}
	t.Cleanup(func() {
		for _, cluster := range append(e.Members(), e.Hub()) {
			_, _ = e.Ask(afterwards(t), "--context", cluster.Name, "delete", "namespace", documented, "--ignore-not-found", "--wait=false")
		}
	})
	for name, example := range examples() {
		e.setUpExample(t, example)
		if err := e.Apply(t.Context(), e.Hub(), documented, workloadOf(all[name].ScaleTargetRef, 1)+"---\n"+all[name].manifest); err != nil {
			t.Fatal(err)
		}
	}
	for _, member := range []string{"member1", "member2"} {
		if err := e.Apply(t.Context(), e.member(t, member), documented, workloadOf(all["worker"].ScaleTargetRef, 2)); err != nil {
			t.Fatal(err)
		}
	}
	e.scaleAsDocumented(t)

	e.freeze(t, "member2")
	eventually(t, "api stays where it is, since its sum is not known", func(ctx context.Context) error {
		hpa, err := e.autoscaler(ctx, "api")
		if err != nil {
			return err
		}
		if complaint := complaintOf(hpa); !containsAll(complaint, []string{"FailedGetObjectMetric", "member2"}) {
			return fmt.Errorf("it does not complain of member2: %q", complaint)
		}
		return hasReplicas(hpa, examples()["api"].replicas)
	})
	e.scalesTo(t, "mailer", examples()["mailer"].replicas) // the others see the same queue
	e.scalesTo(t, "canary", examples()["canary"].replicas) // it is not asked
	e.scalesTo(t, "printer", 2)                            // a part will do
	e.thaw(t, "member2")
	e.scaleAsDocumented(t)
	e.recovers(t)
}

func (e *env) scaleAsDocumented(t *testing.T) {
	t.Helper()
	for name, example := range examples() {
		e.scalesTo(t, name, example.replicas)
	}
}

type autoscaler struct {
	autoscalingv2.HorizontalPodAutoscalerSpec
	manifest string
}

// documentedAutoscalers returns those of the text, by name, with its clusters
// called as ours are.
func (e *env) documentedAutoscalers(t *testing.T) map[string]autoscaler {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(e.Repository, "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]autoscaler{}
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		manifest := strings.NewReplacer("east", "member1", "west", "member2").Replace(block[1])
		var hpa autoscalingv2.HorizontalPodAutoscaler
		if err := yaml.UnmarshalStrict([]byte(manifest), &hpa); err != nil {
			t.Fatalf("%v in:\n%s", err, manifest)
		}
		all[hpa.Name] = autoscaler{HorizontalPodAutoscalerSpec: hpa.Spec, manifest: manifest}
	}
	return all
}

func (e *env) setUpExample(t *testing.T, x example) {
	t.Helper()
	for member, figures := range x.figures {
		for _, f := range figures {
			e.tellFigure(t, member, f)
		}
	}
	for member, series := range x.series {
		for _, s := range series {
			if err := e.member(t, member).SetSeries(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = e.member(t, member).DropSeries(afterwards(t), s.Metric) })
		}
	}
}

// workloadOf is something for an autoscaler to scale.
func workloadOf(target autoscalingv2.CrossVersionObjectReference, replicas int) string {
	return strings.NewReplacer("VERSION", target.APIVersion, "KIND", target.Kind, "NAME", target.Name, "REPLICAS",
		fmt.Sprint(replicas)).Replace(`
apiVersion: VERSION
kind: KIND
metadata: {name: NAME}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec: {containers: [{name: NAME, image: NAME}]}
`)
}

// scalesTo waits until an autoscaler has decided for these replicas and got
// them, twice in a row, without a complaint.
func (e *env) scalesTo(t *testing.T, name string, replicas int32) {
	t.Helper()
	settled := 0
	eventually(t, fmt.Sprintf("%s has %d replicas", name, replicas), func(ctx context.Context) error {
		hpa, err := e.autoscaler(ctx, name)
		if err != nil {
			return err
		}
		if complaint := complaintOf(hpa); complaint != "" {
			return errors.New("it complains of " + complaint)
		}
		if err := hasReplicas(hpa, replicas); err != nil {
			settled = 0
			return err
		}
		if settled++; settled < 2 {
			return errors.New("it may yet change its mind")
		}
		return nil
	})
}

func (e *env) autoscaler(ctx context.Context, name string) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	said, err := e.Ask(ctx, "-n", documented, "get", "hpa", name, "-o", "json")
	if err != nil {
		return nil, err
	}
	hpa := &autoscalingv2.HorizontalPodAutoscaler{}
	return hpa, json.Unmarshal([]byte(said.Stdout), hpa)
}

// complaintOf returns why an autoscaler cannot decide; empty if it can.
func complaintOf(hpa *autoscalingv2.HorizontalPodAutoscaler) string {
	for _, condition := range hpa.Status.Conditions {
		if condition.Type == autoscalingv2.ScalingActive && condition.Status != corev1.ConditionTrue {
			return condition.Reason + ": " + condition.Message
		}
	}
	return ""
}

func hasReplicas(hpa *autoscalingv2.HorizontalPodAutoscaler, replicas int32) error {
	if s := hpa.Status; s.CurrentReplicas != replicas || s.DesiredReplicas != replicas {
		return fmt.Errorf("%d replicas, %d desired, want %d; it sees %+v", s.CurrentReplicas, s.DesiredReplicas, replicas, s.CurrentMetrics)
	}
	return nil
}

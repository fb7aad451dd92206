// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// stage is a namespace of one case, in all clusters. Its autoscaler and its
// workload are called web.
type stage struct {
	*federated
	t  *testing.T
	ns string
	// kind of the workload.
	kind string
}

func (f *federated) stage(t *testing.T, namespace string) *stage {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": namespace, "labels": map[string]any{"for": "federated"}}}}
	for name, client := range f.clients {
		namespaces := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
		if _, err := namespaces.Apply(t.Context(), namespace, object, applying()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return &stage{federated: f, t: t, ns: namespace, kind: "Deployment"}
}

func applying() metav1.ApplyOptions { return metav1.ApplyOptions{FieldManager: "e2e", Force: true} }

// explain shows what a failed case has come to.
func (s *stage) explain() {
	if !s.t.Failed() {
		return
	}
	said, _ := s.Ask(afterwards(s.t), "-n", s.ns, "get", "mpa,fhpa", "-o", "yaml", "--show-managed-fields=false")
	s.t.Logf("Autoscalers:\n%s", said.Stdout[:min(len(said.Stdout), 3*shownLog)])
	said, _ = s.Ask(afterwards(s.t), "-n", s.ns, "events")
	s.t.Logf("Events:\n%s", said.Stdout)
	for _, r := range s.pair {
		data, _ := os.ReadFile(r.Log)
		var own []string
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, s.ns) || strings.Contains(line, "panic") {
				own = append(own, line)
			}
		}
		s.t.Logf("what %s says of it:\n%s", r.Name, strings.Join(own[max(0, len(own)-30):], ""))
	}
}

func gvrOf(apiVersion, kind string) schema.GroupVersionResource {
	gv, _ := schema.ParseGroupVersion(apiVersion)
	plural, _ := meta.UnsafeGuessKindToResource(gv.WithKind(kind))
	return plural
}

func (s *stage) resource(cluster, apiVersion, kind string) dynamic.ResourceInterface {
	return s.clients[cluster].Resource(gvrOf(apiVersion, kind)).Namespace(s.ns)
}

func (s *stage) workload(cluster string) dynamic.ResourceInterface {
	return s.resource(cluster, "apps/v1", s.kind)
}

func (s *stage) autoscalers() dynamic.ResourceInterface {
	return s.resource("hub", v1alpha1.SchemeGroupVersion.String(), "FederatedHPA")
}

// apply brings objects to a cluster. Manifests are YAML, without a namespace.
func (s *stage) apply(cluster, manifests string) {
	s.t.Helper()
	for document := range strings.SplitSeq(manifests, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			s.t.Fatal(err)
		}
		if _, err := s.resource(cluster, object.GetAPIVersion(), object.GetKind()).Apply(s.t.Context(), object.GetName(), object,
			applying()); err != nil {
			s.t.Fatalf("%s: %v", cluster, err)
		}
	}
}

// webOf is a workload whose Pods request cpu. A paused Deployment is a mere
// template: no Pods come of it.
func webOf(kind string, replicas int, paused bool) string {
	extra := fmt.Sprintf("paused: %v", paused)
	if kind == "StatefulSet" {
		extra = "serviceName: web, podManagementPolicy: Parallel"
	}
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: %s
metadata: {name: web}
spec: {replicas: %d, %s, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web,
	image: web, resources: {requests: {cpu: 100m}}}]}}}
`, kind, replicas, extra)
}

// runIn has members run so many replicas each, which nobody propagates.
func (s *stage) runIn(replicas int, members ...string) {
	s.t.Helper()
	for _, member := range members {
		s.apply(member, webOf(s.kind, replicas, false))
	}
}

// propagate has a template on the hub, and members that follow it.
func (s *stage) propagate(replicas int, members ...string) {
	s.t.Helper()
	s.apply("hub", webOf(s.kind, replicas, true))
	s.followed("web", members...)
}

// followed has members follow a workload of the hub.
func (s *stage) followed(name string, members ...string) {
	s.t.Helper()
	var followers []*lab.Cluster
	for _, name := range members {
		followers = append(followers, s.member(s.t, name))
	}
	propagator, err := fixture.NewPropagator(s.Hub(), s.ns, name, followers...)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, end := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- propagator.Run(ctx) }()
	s.t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
	})
}

// autoscale makes a FederatedHPA of the workload. The rest of its spec is YAML
// in the flow style, without the braces.
func (s *stage) autoscale(rest string) {
	s.t.Helper()
	s.apply("hub", s.autoscalerOf("web", rest))
}

func (s *stage) autoscalerOf(name, rest string) string {
	return fmt.Sprintf("apiVersion: autoscaling.karmada.io/v1alpha1\nkind: FederatedHPA\nmetadata: {name: %s}\nspec: {scaleTargetRef: "+
		"{apiVersion: apps/v1, kind: %s, name: %s}, %s}\n", name, s.kind, name, rest)
}

// Metrics of a spec.
const byCPU = "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}"

// byQueue is an external metric of which each replica takes so many.
func (s *stage) byQueue(each int) string {
	return fmt.Sprintf("{type: External, external: {metric: {name: %s}, target: {type: AverageValue, averageValue: %d}}}", s.ns+"-queue", each)
}

// queue sets that metric, in all members: they read the same queue.
func (s *stage) queue(length string) {
	s.t.Helper()
	for _, member := range s.Members() {
		if err := member.SetSeries(s.t.Context(), lab.Series{Metric: s.ns + "-queue", Value: resource.MustParse(length)}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// uses sets what each Pod of the namespace uses, by member.
func (s *stage) uses(cpu map[string]string) {
	s.t.Helper()
	s.usage.Lock()
	defer s.usage.Unlock()
	for _, name := range slices.Sorted(maps.Keys(cpu)) {
		if err := s.member(s.t, name).SetUsage(s.t.Context(), lab.Usage{Namespace: s.ns, CPU: new(resource.MustParse(cpu[name]))}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// tells sets a metric of the Pods web-0 to web-19 in members, those to come too.
func (s *stage) tells(metric string, values map[string]string) {
	s.t.Helper()
	for name, value := range values {
		for i := range 20 {
			f := lab.Figure{Namespace: s.ns, Resource: "pods", Object: fmt.Sprintf("web-%d", i), Metric: metric, Value: resource.MustParse(value)}
			if err := s.member(s.t, name).SetFigure(s.t.Context(), f); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

// change patches the FederatedHPA with JSON.
func (s *stage) change(patch string) {
	s.t.Helper()
	if _, err := s.autoscalers().Patch(s.t.Context(), "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// scaleBy sets the replicas of the workload as a person does.
func (s *stage) scaleBy(cluster string, replicas int) {
	s.t.Helper()
	s.scaleByOf("web", cluster, replicas)
}

func (s *stage) scaleByOf(name, cluster string, replicas int) {
	s.t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	if _, err := s.workload(cluster).Patch(s.t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}, "scale"); err != nil {
		s.t.Fatal(err)
	}
}

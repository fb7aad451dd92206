// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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
	s := &stage{federated: f, t: t, ns: namespace, kind: "Deployment"}
	for name, client := range f.clients {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
			"metadata": map[string]any{"name": namespace, "labels": map[string]any{"for": "federated"}}}}
		if _, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	t.Cleanup(s.explain)
	return s
}

// explain shows what a failed case has come to.
func (s *stage) explain() {
	if !s.t.Failed() {
		return
	}
	said, _ := s.Ask(afterwards(s.t), "-n", s.ns, "get", "fhpa", "-o", "yaml", "--show-managed-fields=false")
	s.t.Logf("FederatedHPAs:\n%s", said.Stdout[:min(len(said.Stdout), 3*shownLog)])
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

// create makes objects in a cluster. Manifests are those of YAML, without a namespace.
func (s *stage) create(cluster, manifests string) {
	s.t.Helper()
	for document := range strings.SplitSeq(manifests, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			s.t.Fatal(err)
		}
		if _, err := s.resource(cluster, object.GetAPIVersion(), object.GetKind()).Create(s.t.Context(), object, metav1.CreateOptions{}); err != nil {
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
spec: {replicas: %d, %s, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 100m}}}]}}}
`, kind, replicas, extra)
}

// runIn has members run so many replicas each, which nobody propagates.
func (s *stage) runIn(replicas int, members ...string) {
	s.t.Helper()
	for _, member := range members {
		s.create(member, webOf(s.kind, replicas, false))
	}
}

// propagate has a template on the hub, and members that follow it.
func (s *stage) propagate(replicas int, members ...string) {
	s.t.Helper()
	s.create("hub", webOf(s.kind, replicas, true))
	var followers []*lab.Cluster
	for _, name := range members {
		followers = append(followers, s.member(s.t, name))
	}
	propagator, err := fixture.NewPropagator(s.Hub(), s.ns, "web", followers...)
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
	s.create("hub", s.autoscalerOf("web", rest))
}

func (s *stage) autoscalerOf(name, rest string) string {
	return fmt.Sprintf("apiVersion: autoscaling.karmada.io/v1alpha1\nkind: FederatedHPA\nmetadata: {name: %s}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: %s, name: %s}, %s}\n", name, s.kind, name, rest)
}

// Metrics of a spec.
const byCPU = "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}"

// byQueue is an external metric of which each replica takes so many.
func (s *stage) byQueue(each int) string {
	return fmt.Sprintf("{type: External, external: {metric: {name: %s}, target: {type: AverageValue, averageValue: %d}}}", s.ns+"-queue", each)
}

// queue sets that metric, in all members: they look at the same queue.
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
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	if _, err := s.workload(cluster).Patch(s.t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}, "scale"); err != nil {
		s.t.Fatal(err)
	}
}

// runs waits until clusters have been told so many replicas, and members run
// them: "hub 4, member1 2, member2 2".
func (s *stage) runs(want string) {
	s.t.Helper()
	eventually(s.t, s.ns+" runs "+want, func(ctx context.Context) error {
		var got []string
		for part := range strings.SplitSeq(want, ", ") {
			cluster, _, _ := strings.Cut(part, " ")
			replicas, err := s.replicasIn(ctx, cluster)
			if err != nil {
				return err
			}
			got = append(got, cluster+" "+replicas)
		}
		if all := strings.Join(got, ", "); all != want {
			return fmt.Errorf("it runs %s", all)
		}
		return nil
	})
}

// replicasIn is what a cluster was told, and how many are Ready where that differs.
func (s *stage) replicasIn(ctx context.Context, cluster string) (string, error) {
	workload, err := s.workload(cluster).Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	told, _, _ := unstructured.NestedInt64(workload.Object, "spec", "replicas")
	ready, _, _ := unstructured.NestedInt64(workload.Object, "status", "readyReplicas")
	if cluster == "hub" || told == ready {
		return fmt.Sprint(told), nil
	}
	return fmt.Sprintf("%d (%d Ready)", told, ready), nil
}

func (s *stage) get(ctx context.Context, name string) (*v1alpha1.FederatedHPA, error) {
	object, err := s.autoscalers().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	fhpa := &v1alpha1.FederatedHPA{}
	return fhpa, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, fhpa)
}

// comes waits until the FederatedHPA is as described.
func (s *stage) comes(what string, right ...func(*v1alpha1.FederatedHPA) error) *v1alpha1.FederatedHPA {
	s.t.Helper()
	return s.comesTo("web", what, right...)
}

func (s *stage) comesTo(name, what string, right ...func(*v1alpha1.FederatedHPA) error) *v1alpha1.FederatedHPA {
	s.t.Helper()
	var fhpa *v1alpha1.FederatedHPA
	eventually(s.t, s.ns+": "+what, func(ctx context.Context) (err error) {
		if fhpa, err = s.get(ctx, name); err != nil {
			return err
		}
		var errs []error
		for _, check := range right {
			errs = append(errs, check(fhpa))
		}
		return errors.Join(errs...)
	})
	return fhpa
}

// isIn wants a state in a word, as kubectl get shows it.
func isIn(state v1alpha1.FederatedHPAState) func(*v1alpha1.FederatedHPA) error {
	return func(f *v1alpha1.FederatedHPA) error {
		if f.Status.Summary == nil || f.Status.Summary.State != state {
			return fmt.Errorf("its summary is %+v, want %s", f.Status.Summary, state)
		}
		return nil
	}
}

// says wants a condition: "Type=Status/Reason", and words of its message.
func says(want string, words ...string) func(*v1alpha1.FederatedHPA) error {
	return func(f *v1alpha1.FederatedHPA) error {
		kind, _, _ := strings.Cut(want, "=")
		for _, c := range f.Status.Conditions {
			if string(c.Type) != kind {
				continue
			}
			if got := fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason); got != want || !containsAll(c.Message, words) {
				return fmt.Errorf("it says %s %q, want %s with %q", got, c.Message, want, words)
			}
			return nil
		}
		return fmt.Errorf("it says nothing of %s, want %s", kind, want)
	}
}

// hasClusters wants the clusters' states: "member1 Active 4, member2 ...", with
// the Ready Pods.
func hasClusters(want string) func(*v1alpha1.FederatedHPA) error {
	return func(f *v1alpha1.FederatedHPA) error {
		var all []string
		for _, c := range f.Status.Clusters {
			ready := "-"
			if c.ReadyReplicas != nil {
				ready = fmt.Sprint(*c.ReadyReplicas)
			}
			all = append(all, fmt.Sprintf("%s %s %s", c.Name, c.State, ready))
		}
		if got := strings.Join(all, ", "); got != want {
			return fmt.Errorf("its clusters are %q, want %q", got, want)
		}
		return nil
	}
}

// hasEvent waits for an Event of the FederatedHPA.
func (s *stage) hasEvent(kind, reason string, words ...string) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("%s: an Event %s %q", s.ns, reason, words), func(ctx context.Context) error {
		notes, err := s.notes(ctx, "FederatedHPA", kind, reason)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(notes, func(note string) bool { return containsAll(note, words) }) {
			return fmt.Errorf("those of %s are %q", reason, notes)
		}
		return nil
	})
}

// notes are the texts of Events, in their order.
func (s *stage) notes(ctx context.Context, of, kind, reason string) ([]string, error) {
	return s.notesIn(ctx, "hub", of, kind, reason)
}

func (s *stage) notesIn(ctx context.Context, cluster, of, kind, reason string) ([]string, error) {
	list, err := s.resource(cluster, "events.k8s.io/v1", "Event").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	type told struct{ at, note string }
	var all []told
	for _, item := range list.Items {
		text := func(path ...string) string { v, _, _ := unstructured.NestedString(item.Object, path...); return v }
		if text("regarding", "kind") == of && text("type") == kind && text("reason") == reason {
			at := text("eventTime")
			if at == "" {
				at = text("deprecatedFirstTimestamp")
			}
			all = append(all, told{at, text("note")})
		}
	}
	slices.SortStableFunc(all, func(a, b told) int { return strings.Compare(a.at, b.at) })
	var notes []string
	for _, t := range all {
		notes = append(notes, t.note)
	}
	return notes, nil
}

// shows waits until kubectl get shows a line that matches.
func (s *stage) shows(pattern string) {
	s.t.Helper()
	line := regexp.MustCompile(`(?m)^` + pattern + `$`)
	eventually(s.t, s.ns+": kubectl get shows "+pattern, func(ctx context.Context) error {
		said, err := s.Ask(ctx, "-n", s.ns, "get", "fhpa", "--no-headers")
		if err == nil && !line.MatchString(said.Stdout) {
			err = errors.New(said.Stdout)
		}
		return err
	})
}

// Types of conditions, in short.
const (
	able    = string(autoscalingv2.AbleToScale)
	active  = string(autoscalingv2.ScalingActive)
	limited = string(autoscalingv2.ScalingLimited)
	zeroed  = string(autoscalingv2.ScaledToZero)
	visible = string(v1alpha1.FleetVisible)
)

// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

const model = "queueing-model"

func recommendedByModel(m *v1alpha1.MultidimPodAutoscaler) {
	m.Spec.Recommenders = []v1alpha1.RecommenderReference{{Name: model}}
}

// owners are who owns the fields of a recommendation, as an API server has it: whoever changed them last.
type owners map[string]owned

type owned struct{ value, by string }

// update is after somebody wrote it.
func (o owners) update(by string, r *v1alpha1.SizeRecommendation) owners {
	after := owners{}
	var add func(path string, value any)
	add = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for name, field := range v {
				add(path+"."+name, field)
			}
		case []any:
			for i, item := range v {
				add(fmt.Sprint(path, i), item)
			}
		case nil:
		default:
			after[path] = owned{toText(v), by}
			if before := o[path]; before.value == toText(v) {
				after[path] = before
			}
		}
	}
	text, _ := json.Marshal(r)
	var value any
	_ = json.Unmarshal(text, &value)
	add("", value)
	return after
}

func (o owners) entries() (all []metav1.ManagedFieldsEntry) {
	by := map[string]bool{}
	for _, field := range o {
		by[field.by] = true
	}
	for _, manager := range slices.Sorted(maps.Keys(by)) {
		all = append(all, metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:recommendation":{}}}`)})
	}
	return all
}

// recommendation is for app, made now.
func (w *world) recommendation(cpu, memory string) *v1alpha1.SizeRecommendation {
	return &v1alpha1.SizeRecommendation{At: &metav1.Time{Time: w.clock.Now()}, Containers: []v1alpha1.ContainerRecommendation{
		{ContainerName: "app", Target: v1alpha1.Size{CPU: quantity(cpu), Memory: quantity(memory)}}}}
}

// recommend has somebody write the status.
func (w *world) recommend(as string, r *v1alpha1.SizeRecommendation) {
	w.t.Helper()
	m := w.object()
	m.Status.Recommendation = r
	w.owners = w.owners.update(as, r)
	if err := w.hub.Status().Update(w.t.Context(), m, client.FieldOwner(as)); err != nil {
		w.t.Fatal(err)
	}
}

// What is written before comes from whoever wrote it; another may take over, and leave it to us again.
func TestRecommenders(t *testing.T) {
	w := newWorld(t, object())
	provided := func() string { return words(w.object(), v1alpha1.MultidimRecommendationProvided) }
	w.pass(2)
	ours := recommendedFor(w.object().Status.Recommendation)
	w.edit(recommendedByModel)
	w.told()
	w.pass(1)
	m := w.object()
	same(t, "what was ours", (*v1alpha1.SizeRecommendation)(nil), m.Status.Recommendation)
	same(t, "state", v1alpha1.MultidimLearning, m.Status.Summary.State)
	same(t, "provided", `False Learning: "queueing-model" has not written status.recommendation yet`, provided())
	same(t, "Events", []string(nil), w.told())

	w.recommend(model, w.recommendation("126m", "250Mi")) // the same as ours
	w.pass(1)
	same(t, "provided by the model", `True Recommended: as "queueing-model" recommends`, provided())
	same(t, "summary", "1 -> 126m", w.object().Status.Summary.CPU)
	same(t, "LowConfidence", "", words(w.object(), v1alpha1.MultidimLowConfidence))
	w.pass(3)
	same(t, "provided by the model, still", `True Recommended: as "queueing-model" recommends`, provided())
	w.pass(3)
	if got := provided(); !strings.HasPrefix(got, "False RecommendationStale: ") {
		t.Errorf("after 7 minutes: %s", got)
	}
	w.recommend("kubectl-edit", w.recommendation("1", "1Gi"))
	w.pass(1)
	if got := provided(); !strings.HasPrefix(got, `False RecommendationRefused: status.recommendation was written by "kubectl-edit"`) {
		t.Errorf("of somebody else: %s", got)
	}
	same(t, "Events of a refusal", 1, len(w.told()))

	w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Recommenders = nil })
	w.pass(1)
	same(t, "ours again", ours, recommendedFor(w.object().Status.Recommendation))
	same(t, "provided by us", "True Recommended: from what containers used in all clusters", provided())
}

// What another recommends is refused whole if anything in it is wrong.
func TestRefused(t *testing.T) {
	tests := map[string]struct {
		change func(*v1alpha1.SizeRecommendation)
		spec   v1alpha1.RequestBounds
		want   string
	}{
		"no time": {change: func(r *v1alpha1.SizeRecommendation) { r.At = nil }, want: "status.recommendation.at is missing"},
		"of the future": {
			change: func(r *v1alpha1.SizeRecommendation) { r.At.Time = r.At.Add(6 * time.Minute) },
			want:   "status.recommendation.at is in the future",
		},
		"of another": {
			change: func(r *v1alpha1.SizeRecommendation) { r.Containers[0].ContainerName = "web" },
			want:   `status.recommendation.containers[0]: the workload has no container "web"`,
		},
		"nothing": {
			change: func(r *v1alpha1.SizeRecommendation) { r.Containers[0].Target.CPU = quantity("0") },
			want:   "status.recommendation.containers[0]: target.cpu is 0, which is not more than nothing",
		},
		"less than that": {
			change: func(r *v1alpha1.SizeRecommendation) { r.Containers[0].Target.Memory = quantity("-1") },
			want:   "status.recommendation.containers[0]: target.memory is -1, which is not more than nothing",
		},
		"too little": {
			spec: v1alpha1.RequestBounds{MinAllowed: v1alpha1.Size{CPU: quantity("600m")}},
			want: "status.recommendation.containers[0]: target.cpu is 500m, which is less than minAllowed, 600m",
		},
		"too much": {
			spec: v1alpha1.RequestBounds{MaxAllowed: v1alpha1.Size{CPU: quantity("400m")}},
			want: "status.recommendation.containers[0]: target.cpu is 500m, which is more than maxAllowed, 400m",
		},
		"below its bound": {
			change: func(r *v1alpha1.SizeRecommendation) { r.Containers[0].LowerBound.CPU = quantity("1") },
			want:   "status.recommendation.containers[0]: target.cpu is 500m, which is less than its lowerBound, 1",
		},
		"above its bound": {
			change: func(r *v1alpha1.SizeRecommendation) { r.Containers[0].UpperBound.CPU = quantity("1m") },
			want:   "status.recommendation.containers[0]: target.cpu is 500m, which is more than its upperBound, 1m",
		},
		"at all bounds": {change: func(r *v1alpha1.SizeRecommendation) {
			r.Containers[0].LowerBound.CPU, r.Containers[0].UpperBound.CPU = quantity("500m"), quantity("500m")
		}, spec: v1alpha1.RequestBounds{MinAllowed: v1alpha1.Size{CPU: quantity("500m")}, MaxAllowed: v1alpha1.Size{CPU: quantity("500m")}}},
		"less than any machine can tell": {change: func(r *v1alpha1.SizeRecommendation) { r.Containers[0].Target.CPU = quantity("1u") }},
		"one resource":                   {change: func(r *v1alpha1.SizeRecommendation) { r.Containers[0].Target.CPU = nil }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, object(recommendedByModel, func(m *v1alpha1.MultidimPodAutoscaler) {
				m.Spec.Constraints.Container = []v1alpha1.ContainerConstraint{{Name: "app", Requests: tc.spec}}
			}))
			r := w.recommendation("500m", "300Mi")
			if tc.change != nil {
				tc.change(r)
			}
			w.recommend(model, r)
			w.pass(1)
			want := `True Recommended: as "queueing-model" recommends`
			if tc.want != "" {
				want = "False RecommendationRefused: " + tc.want
			}
			if got := words(w.object(), v1alpha1.MultidimRecommendationProvided); !strings.HasPrefix(got, want) {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

func TestWriters(t *testing.T) {
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	in := situation{Object: object(recommendedByModel), Now: noon}
	r := &v1alpha1.SizeRecommendation{At: &metav1.Time{Time: noon}}
	in.Object.Status.Recommendation = r
	in.Object.ManagedFields = []metav1.ManagedFieldsEntry{
		entry("kubectl", `{"f:spec":{"f:recommendation":{}}}`), entry("a", `{"f:status":{"f:conditions":{}}}`), {Manager: "b"},
		entry("c", `{"f:status":[]}`), entry("d", `nonsense`), entry("e", `{"f:status":null}`),
	}
	same(t, "writers", []string(nil), writersOf(in.Object.ManagedFields))
	if err := in.genuine(r); err == nil || !strings.HasPrefix(err.Error(), "metadata.managedFields does not say") {
		t.Errorf("by nobody: %v", err)
	}
	in.Object.ManagedFields = append(in.Object.ManagedFields, entry(model, `{"f:status":{"f:recommendation":{"f:at":{}}}}`))
	if err := in.genuine(r); err != nil || in.isOurs() {
		t.Error(err)
	}
	in.Object.ManagedFields = append(in.Object.ManagedFields, entry(FieldManager, `{"f:status":{"f:recommendation":{"f:since":{}}}}`))
	if err := in.genuine(r); err == nil || !in.isOurs() {
		t.Error("what is ours in part is taken for another's")
	}
}

// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
)

func TestDoubts(t *testing.T) {
	start := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	cut := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web",
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: record.FieldManager, Subresource: "status", Time: new(metav1.NewTime(start))}},
	}}
	whole := cut.DeepCopy()
	whole.Status.Summary = &v1alpha1.FederatedHPASummary{}
	fresh := cut.DeepCopy()
	fresh.ManagedFields = nil
	d := &served.Doubt{}
	for _, step := range []struct {
		what   string
		after  time.Duration
		object *v1alpha1.FederatedHPA
		want   bool
	}{
		{"new", 0, fresh, false},
		{"as we wrote it", 0, whole, false},
		{"cut", time.Second, cut, true},
		{"still cut", time.Minute, cut, true},
		{"whole again", time.Minute, whole, false},
		{"cut again", 2 * time.Minute, cut, true},
		{"still cut, nearly a minute", 3*time.Minute - time.Second, cut, true},
		{"cut for a minute", 3 * time.Minute, cut, false},
		{"cut for good", time.Hour, cut, false},
	} {
		if got := d.About(step.object, served.Cut(step.object), record.FieldManager, start.Add(step.after)); got != step.want {
			t.Errorf("%s: doubted %v, want %v", step.what, got, step.want)
		}
	}
}

// What turns from one mode into the other without an edit was cut. That is known of it without any memory.
func TestDoubtsAboutTheMode(t *testing.T) {
	object := cutObject(3)
	object.ManagedFields, object.Status.Summary = nil, &v1alpha1.FederatedHPASummary{}
	edited := object.DeepCopy()
	edited.Generation = 4
	d := &served.Doubt{}
	same(t, "doubts", []bool{true, true, false, false}, []bool{
		d.About(object, served.Cut(object), record.FieldManager, start),
		d.About(object, served.Cut(object), record.FieldManager, start.Add(time.Minute-1)),
		d.About(object, served.Cut(object), record.FieldManager, start.Add(time.Minute)),
		d.About(edited, served.Cut(edited), record.FieldManager, start),
	})
}

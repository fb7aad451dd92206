// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// Neither mode reconciles an object in a namespace of Kubernetes or of ours; it is said once why. Once it is deleted, what it left in
// members is taken away.
func TestReservedNamespaces(t *testing.T) {
	const why = `nothing is scaled or sized in namespace "kube-system", nor in any other of Kubernetes or fleetscale: use another one`
	for name, change := range map[string]func(*v1alpha1.FederatedHPA){
		"central":     func(*v1alpha1.FederatedHPA) {},
		"in members":  func(f *v1alpha1.FederatedHPA) { f.Spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{} },
		"distributed": func(f *v1alpha1.FederatedHPA) { f.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{} },
		"paused":      func(f *v1alpha1.FederatedHPA) { f.Spec.Mode = v1alpha1.ModePaused },
		"leaving":     func(f *v1alpha1.FederatedHPA) { f.Finalizers = []string{v1alpha1.MemberAutoscalersFinalizer} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.member("east").deploy("web", 5)
			key := client.ObjectKey{Namespace: "kube-system", Name: "web"}
			w.hub.workloads[key] = federatedhpatest.NewWorkload("web", 10)
			object := federatedhpatest.NewObject("web")
			object.Namespace = key.Namespace
			change(object)
			w.hub.Put(object)
			for range 3 {
				if after, err := w.reconcile(key); err != nil || after != period {
					t.Fatalf("reconciled again after %v, %v", after, err)
				}
			}
			status := &w.hub.Objects[key].Status
			c := summary.Condition(status, autoscalingv2.AbleToScale)
			same(t, "AbleToScale", "False NamespaceNotAllowed: "+why, string(c.Status)+" "+c.Reason+": "+c.Message)
			same(t, "state", v1alpha1.StateFailing, status.Summary.State)
			same(t, "heard", []string{"!NamespaceNotAllowed: " + why}, w.Heard())
			same(t, "statuses written", 1, w.hub.StatusWrites)
			same(t, "asked", 0, len(w.asked))
			same(t, "written on the hub", []int32(nil), w.hub.workloads[key].Writes)
			same(t, "written to members", []string(nil), w.wrote)
			w.other.did = nil
			object = w.hub.Objects[key].DeepCopy()
			object.DeletionTimestamp, object.Finalizers = &metav1.Time{Time: w.Clock.Now()}, []string{v1alpha1.MemberAutoscalersFinalizer}
			w.hub.Put(object)
			if _, err := w.reconcile(key); err != nil {
				t.Fatal(err)
			}
			same(t, "done once it is deleted", []string{"reconcile web"}, w.other.did)
		})
	}
}

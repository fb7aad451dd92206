// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"errors"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// marker is what is said of who takes the label away.
const marker = "; if it had the label, " +
	"Karmada's hpaScaleTargetMarker took it away as a HorizontalPodAutoscaler of the workload was deleted " +
	"on the hub: set it once more"

func TestClusterWithoutTheWorkload(t *testing.T) {
	retained := map[string]string{"app": "web", sight.RetainReplicas: "true"}
	none := func(*world) {}
	tests := map[string]struct {
		change []func(*v1alpha1.FederatedHPA)
		world  func(*world)
		writes []string // to members, of the first reconcile
		has    string   // in b, in the end
		status string
		able   string
	}{
		"there is none on the hub either": {nil, none, []string{"a web 2-10"}, "no workload",
			"b Excluded 0-0 current 0 ready ? TargetNotFound", "True ReadyForNewScale: the bounds are split among 1 clusters"},
		"it is made from that of the hub": {nil, func(w *world) { w.hub.workload = template(nil) },
			[]string{"a web 1-5", "b make 1", "b web 1-5"}, "web 1-5, runs 1",
			"b Active 1-5 current 1 ready 1", "True ReadyForNewScale: the bounds are split among 2 clusters"},
		"it is made to run nothing where that may be": {[]func(*v1alpha1.FederatedHPA){toZero}, func(w *world) { w.hub.workload = template(nil) },
			[]string{"a web 1-5", "b make 0", "b web 1-5"}, "web 1-5, runs 0",
			"b ScaledToZero 1-5 current 0 ready 0", "True ReadyForNewScale: the bounds are split among 2 clusters"},
		"the program creates nothing": {nil, func(w *world) { w.hub.workload, w.createsNothing = template(nil), true },
			[]string{"a web 2-10"}, "no workload",
			"b Excluded 0-0 current 0 ready ? CreationNotAllowed", "True ReadyForNewScale: the bounds are split among 1 clusters"},
		"its registration allows nothing": {nil, func(w *world) {
			w.hub.workload, w.member("b").creation = template(nil), registration.Creation{}
		}, []string{"a web 2-10"}, "no workload",
			"b Excluded 0-0 current 0 ready ? CreationNotAllowed", "True ReadyForNewScale: the bounds are split among 1 clusters"},
		"its registration allows another namespace": {nil, func(w *world) {
			w.hub.workload, w.member("b").creation = template(nil), registration.Creation{Namespaces: []string{"blog"}}
		}, []string{"a web 2-10"}, "no workload",
			"b Excluded 0-0 current 0 ready ? CreationNotAllowed", "True ReadyForNewScale: the bounds are split among 1 clusters"},
		"its registration does not allow the ServiceAccount": {nil, func(w *world) {
			w.hub.workload = template(nil)
			setServiceAccount(w.hub.workload, "admin")
		}, []string{"a web 2-10"}, "no workload",
			"b Excluded 0-0 current 0 ready ? CreationNotAllowed", "True ReadyForNewScale: the bounds are split among 1 clusters"},
		"its registration allows the ServiceAccount": {nil, func(w *world) {
			w.hub.workload = template(nil)
			setServiceAccount(w.hub.workload, "admin")
			w.member("b").creation.ServiceAccounts = []string{"admin"}
		}, []string{"a web 1-5", "b make 1", "b web 1-5"}, "web 1-5, runs 1",
			"b Active 1-5 current 1 ready 1", "True ReadyForNewScale: the bounds are split among 2 clusters"},
		"nobody creates, and there is none on the hub": {nil, func(w *world) { w.createsNothing = true },
			[]string{"a web 2-10"}, "no workload",
			"b Excluded 0-0 current 0 ready ? TargetNotFound", "True ReadyForNewScale: the bounds are split among 1 clusters"},
		"another one of the hub is none": {nil, func(w *world) { w.hub.workload = template(nil); w.hub.workload.SetName("other") },
			[]string{"a web 2-10"}, "no workload",
			"b Excluded 0-0 current 0 ready ? TargetNotFound", "True ReadyForNewScale: the bounds are split among 1 clusters"},
		"the hub does not know the kind": {nil, func(w *world) {
			w.hub.failGet = kindUnknown
		}, []string{"a web 2-10"}, "no workload",
			"b Excluded 0-0 current 0 ready ? TargetNotFound", "True ReadyForNewScale: the bounds are split among 1 clusters"},
		"the cluster does not know the kind": {nil, func(w *world) {
			w.member("b").mute = &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "Deployment"}}
		}, []string{"a web 2-10"}, "no workload",
			"b Excluded 0-0 current 0 ready ? TargetNotFound", "True ReadyForNewScale: the bounds are split among 1 clusters"},
		"the hub cannot be asked": {nil, func(w *world) { w.hub.failGet = func() error { return errRefused } },
			nil, "no workload", "", `False FailedReadHub: reading Deployment "web" on the hub: refused`},
		"others place it, and retain the replicas": {nil, func(w *world) {
			w.hub.workload, w.placed = template(retained), placedIn{rule: placement.Duplicated, names: []string{"a", "b"}}
		}, []string{"a web 2-10"}, "no workload",
			"b Excluded 0-0 current 0 ready ? TargetNotFound", "True ReadyForNewScale: the bounds are split among 1 clusters"},
		"others place it only there": {nil, func(w *world) {
			w.hub.workload, w.placed = template(retained), placedIn{rule: placement.Duplicated, names: []string{"a"}}
		}, []string{"a web 2-10"}, "no workload", "", "True ReadyForNewScale: the bounds are split among 1 clusters"},
		"others place it in one that is not registered": {nil, func(w *world) {
			w.hub.workload, w.placed = template(retained), placedIn{rule: placement.Duplicated, names: []string{"a", "dark"}}
		}, []string{"a web 2-10"}, "no workload",
			"dark Unreachable 0-0 current ? ready ? NotRegistered", "True ReadyForNewScale: the bounds are split among 2 clusters"},
		"others place it, and take the replicas back": {nil, func(w *world) {
			w.hub.workload, w.placed = template(nil), placedIn{rule: placement.Duplicated, names: []string{"a", "b"}}
		}, nil, "no workload", "",
			`False RetainReplicasMissing: label Deployment "web" on the hub with resourcetemplate.karmada.io/retain-replicas=true, otherwise Karmada reverts the replicas that the clusters are given` + marker},
		"others place it, and somebody says that they may": {nil, func(w *world) {
			w.hub.workload = template(map[string]string{sight.RetainReplicas: "false"})
			w.placed = placedIn{rule: placement.Duplicated, names: []string{"a", "b"}}
		}, nil, "no workload", "",
			`False RetainReplicasMissing: label Deployment "web" on the hub with resourcetemplate.karmada.io/retain-replicas=true, otherwise Karmada reverts the replicas that the clusters are given` + marker},
		"others place it, and the hub has none": {nil, func(w *world) {
			w.placed = placedIn{rule: placement.Duplicated, names: []string{"a"}}
		}, nil,
			"no workload", "",
			`False RetainReplicasMissing: label Deployment "web" on the hub with resourcetemplate.karmada.io/retain-replicas=true, otherwise Karmada reverts the replicas that the clusters are given` + marker},
		"others divide its replicas": {nil, func(w *world) {
			w.hub.workload, w.placed = template(retained), placedIn{rule: placement.Divided, names: []string{"a", "b"}}
		}, nil, "no workload", "",
			`False DividedPlacement: Karmada divides the replicas of Deployment "web", and removes it from clusters that get none: set ` +
				`replicaSchedulingType: Duplicated in its PropagationPolicy, with the label resourcetemplate.karmada.io/retain-replicas=true on ` +
				`the workload, so that its clusters do not depend on its replicas`},
		"others place no such workload, and the hub has none": {nil, func(w *world) {
			w.placed = placedIn{rule: placement.Unplaced, err: &placement.TemplateFault{}}
		}, []string{"a web 2-10"}, "no workload",
			"b Excluded 0-0 current 0 ready ? TargetNotFound", "True ReadyForNewScale: the bounds are split among 1 clusters"},
		"others could not be told its replicas": {nil, func(w *world) {
			w.hub.workload = template(retained)
			w.placed = placedIn{rule: placement.Duplicated, names: []string{"a", "b"}, err: &placement.TemplateFault{}}
		}, []string{"a web 2-10"}, "no workload",
			"b Excluded 0-0 current 0 ready ? TargetNotFound", "True ReadyForNewScale: the bounds are split among 1 clusters"},
		"others place it nowhere": {nil, func(w *world) {
			w.hub.workload, w.placed = template(retained), placedIn{rule: placement.Unplaced, err: &placement.TemplateFault{}}
		}, []string{"a web 2-10"}, "no workload",
			"b Excluded 0-0 current 0 ready ? TargetNotFound", "True ReadyForNewScale: the bounds are split among 1 clusters"},
		"it is not known where others place it": {nil, func(w *world) { w.placed = placedIn{err: errRefused} }, nil, "no workload", "",
			`False FailedReadHub: reading where Deployment "web" is placed: refused`},
		"nobody places it": {nil, func(w *world) { w.hub.workload, w.placed = template(nil), placedIn{} },
			[]string{"a web 1-5", "b make 1", "b web 1-5"}, "web 1-5, runs 1",
			"b Active 1-5 current 1 ready 1", "True ReadyForNewScale: the bounds are split among 2 clusters"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2}, tc.change...)
			w.member("b")
			for _, m := range w.members {
				m.scales = false
			}
			tc.world(w)
			w.restart()
			_ = w.reconcile()
			same(t, "written to members", tc.writes, toMembers(w.writes()))
			_ = w.reconcileN(3)
			same(t, "written later", nil, toMembers(w.writes()))
			same(t, "b has", tc.has, w.has()["b"])
			status := ""
			if all := w.clusters(); len(all) > 1 {
				status = all[1]
			}
			same(t, "the status of the second", tc.status, status)
			same(t, "AbleToScale", tc.able, w.condition(autoscalingv2.AbleToScale))
		})
	}
}

func setServiceAccount(workload *unstructured.Unstructured, name string) {
	_ = unstructured.SetNestedField(workload.Object, name, "spec", "template", "spec", "serviceAccountName")
}

func kindUnknown() error {
	return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "Deployment"}}
}

func TestWhatIsMade(t *testing.T) {
	w := newWorld(t, "StaticWeighted")
	w.member("a")
	w.hub.workload = template(map[string]string{"app": "web"})
	w.mustReconcile(1)
	want := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{
			"namespace": "shop", "name": "web", "labels": map[string]any{"app": "web", "fleetscale.io/managed-by": "uid-of-web"},
			"annotations": map[string]any{"team": "shop"},
		},
		"spec": map[string]any{"replicas": int64(2), "paused": true},
	}
	same(t, "made", want, w.member("a").made.Object)
	same(t, "heard", []string{"BoundsSplit: a: 0-0 to 2-10, a: 0 to 2 replicas",
		`WorkloadCreated: Deployment "web" was created as on the hub in: a`}, w.Heard())
}

func TestWorkloadThatSomebodyDeletedIsMadeAgain(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
	w.hub.workload = template(nil)
	w.mustReconcile(3)
	w.member("b").undeploy()
	w.writes()
	w.mustReconcile(2)
	same(t, "written", []string{"b make 1"}, toMembers(w.writes()))
	same(t, "there is", map[string]string{"a": "web 1-5, runs 3", "b": "web 1-5, runs 1"}, w.has())
}

// What is not created is reported where people search for it, with what to set.
func TestWorkloadThatMayNotBeCreated(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3})
	w.hub.workload, w.createsNothing = template(nil), true
	b := w.member("b")
	w.restart()
	w.mustReconcile(2)
	const set = `cluster b is Excluded: the cluster has no Deployment "web", and no workloads are created in clusters: create it there, or run ` +
		"the controller-manager with --create-workloads and annotate its registration with fleetscale.io/create-workloads-in: shop"
	same(t, "heard", []string{"BoundsSplit: a: 0-0 to 2-10", "!ClusterStateChanged: " + set}, w.Heard())
	b.creation, w.createsNothing = registration.Creation{}, false
	w.restart()
	w.mustReconcile(2)
	same(t, "why", `the cluster has no Deployment "web", and its registration does not allow workloads to be created in namespace "shop": `+
		"create it there, or annotate its registration with fleetscale.io/create-workloads-in: shop", w.object().Status.Clusters[1].Message)
	b.creation = registration.Creation{Namespaces: []string{"shop"}}
	w.mustReconcile(2)
	same(t, "b has", "web 1-5, runs 1", w.has()["b"])
}

// What was created while it was allowed is ours for good: it is scaled, and goes when its cluster leaves.
func TestWorkloadThatMayNoLongerBeCreated(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3})
	w.hub.workload = template(nil)
	b := w.member("b")
	w.mustReconcile(3)
	b.creation, w.createsNothing = registration.Creation{}, true
	w.restart()
	w.writes()
	w.edit(bounds(2, 20))
	w.mustReconcile(2)
	same(t, "written", []string{"a web 1-10", "b web 1-10"}, toMembers(w.writes()))
	w.edit(only("a"))
	w.mustReconcile(4)
	same(t, "b has", "no workload", w.has()["b"])
}

// A cluster that refused the workload, and may no longer get it, is not asked about it either.
func TestWorkloadThatMayNoLongerBeTried(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3})
	w.hub.workload = template(nil)
	b := w.member("b")
	b.refuses = func(what string) error {
		if what == "create" {
			return errRefused
		}
		return nil
	}
	_ = w.reconcileN(1 + int(grace/period))
	asked := 0
	b.creation, b.refuses = registration.Creation{}, func(what string) error {
		if what == "create" {
			asked++
		}
		return nil
	}
	_ = w.reconcileN(1 + int(2*grace/period))
	same(t, "asked to create", 0, asked)
	same(t, "b has", "no workload", w.has()["b"])
}

func TestWorkloadThatCanNotBeMade(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3})
	w.hub.workload = template(nil)
	w.member("b").refuses = func(what string) error {
		if what == "create" {
			return errors.New(`namespace "shop" does not exist in the cluster; create it there`)
		}
		return nil
	}
	_ = w.reconcileN(2)
	same(t, "clusters", []string{"a Active 1-5 current 3 ready 3", "b Active 1-5 current 0 ready ? to 1 FailedWrite"}, w.clusters())
	same(t, "why", `namespace "shop" does not exist in the cluster; create it there`, w.object().Status.Clusters[1].Message)
	w.member("b").refuses = nil
	w.mustReconcile(3)
	same(t, "there is", map[string]string{"a": "web 1-5, runs 3", "b": "web 1-5, runs 1"}, w.has())
}

// Somebody made it in between: then that is it.
func TestWorkloadThatIsThereAlready(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3})
	w.hub.workload = template(nil)
	b := w.member("b")
	b.refuses = func(what string) error {
		if what == "create" && b.deployment() == nil {
			b.deploy(2)
		}
		return nil
	}
	w.mustReconcile(3)
	same(t, "there is", map[string]string{"a": "web 1-5, runs 3", "b": "web 1-5, runs 2"}, w.has())
	if heard := w.Heard(); contains(heard, `WorkloadCreated: Deployment "web" was created as on the hub in: b`) {
		t.Errorf("heard %q", heard)
	}
}

// How many it is to run is not known while the cluster is not in sight.
func TestWorkloadIsNotMadeUnseen(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 3, "b": 3})
	w.hub.workload = template(nil)
	w.mustReconcile(3)
	b := w.member("b")
	b.refuses = func(string) error { return errRefused }
	w.edit(bounds(2, 20))
	_ = w.reconcileN(2)
	b.undeploy()
	b.refuses = nil
	w.writes()
	w.mustReconcile(1)
	same(t, "written", []string{"b web 1-10"}, toMembers(w.writes()))
	w.mustReconcile(1)
	same(t, "written", []string{"b make 1"}, toMembers(w.writes()))
}

// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// crowd is a namespace full of autoscalers with few names, so that they meet.
type crowd struct {
	federated []*v1alpha1.FederatedHPA
	crons     []*v1alpha1.CronFederatedHPA
	multidim  []*v1alpha1.MultidimPodAutoscaler
	hpas      []*autoscalingv2.HorizontalPodAutoscaler
}

func newCrowd(t *testing.T, r *rand.Rand) crowd {
	var c crowd
	name := func() string { return fmt.Sprintf("n%d", r.IntN(5)) }
	for i := range 2 {
		c.multidim = append(c.multidim, object[v1alpha1.MultidimPodAutoscaler](t, mpa(fmt.Sprintf("n%d", i+3), name())))
		c.crons = append(c.crons, object[v1alpha1.CronFederatedHPA](t,
			cron(fmt.Sprintf("m%d", i), "MultidimPodAutoscaler", name(), "targetMinReplicas: 20")))
	}
	for i := range 4 {
		c.federated = append(c.federated, object[v1alpha1.FederatedHPA](t, fhpa(fmt.Sprintf("n%d", i), name())))
		text := cron(fmt.Sprintf("c%d", i), "FederatedHPA", name(), "targetMinReplicas: 20")
		if r.IntN(2) == 0 {
			text = cron(fmt.Sprintf("c%d", i), "Deployment", name(), "targetReplicas: 2")
		}
		c.crons = append(c.crons, object[v1alpha1.CronFederatedHPA](t, text))
	}
	c.hpas = append(c.hpas, hpa("shop", "h", name()))
	return c
}

// objects are the crowd, and the same in a namespace that must not matter.
func (c crowd) objects() []client.Object {
	var all []client.Object
	add := func(o client.Object) {
		elsewhere := o.DeepCopyObject().(client.Object)
		elsewhere.SetNamespace("elsewhere")
		elsewhere.SetName(o.GetName() + "-elsewhere")
		all = append(all, o, elsewhere)
	}
	for _, o := range c.federated {
		add(o)
	}
	for _, o := range c.crons {
		add(o)
	}
	for _, o := range c.multidim {
		add(o)
	}
	for _, o := range c.hpas {
		add(o)
	}
	return all
}

// What is looked up by name is judged as if everything had been read.
func TestWhatIsNotReadDoesNotMatter(t *testing.T) {
	sorted := cmpopts.SortSlices(func(a, b string) bool { return a < b })
	met := 0
	for seed := range fleettest.Rounds(60, 4) {
		c := newCrowd(t, rand.New(rand.NewPCG(seed, 0)))
		hub := hubWith(t, c.objects()...)
		all := admission.Neighbours{FederatedHPAs: c.federated, CronFederatedHPAs: c.crons, MultidimPodAutoscalers: c.multidim, HPAs: c.hpas}
		for _, f := range c.federated {
			known, err := ofFederatedHPA(t.Context(), hub, "shop", f)
			if err != nil {
				t.Fatal(err)
			}
			wantFaults, wantWarnings := admission.ValidateFederatedHPA(f, nil, all)
			faults, warnings := admission.ValidateFederatedHPA(f, nil, known)
			if diff := cmp.Diff(wantFaults.ToAggregate(), faults.ToAggregate(), cmp.Comparer(sameText)) + cmp.Diff(wantWarnings, warnings, sorted,
				cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d: %s (-all +looked up):\n%s", seed, f.Name, diff)
			}
			met += len(faults) + len(warnings)
		}
		for _, m := range c.multidim {
			known, err := ofMultidimPodAutoscaler(t.Context(), hub, "shop", m)
			if err != nil {
				t.Fatal(err)
			}
			wantFaults, wantWarnings := admission.ValidateMultidimPodAutoscaler(m, nil, all)
			faults, warnings := admission.ValidateMultidimPodAutoscaler(m, nil, known)
			if diff := cmp.Diff(texts(wantFaults), texts(faults), sorted) + cmp.Diff(wantWarnings, warnings, sorted,
				cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d: %s (-all +looked up):\n%s", seed, m.Name, diff)
			}
			met += len(faults) + len(warnings)
		}
		for _, o := range c.crons {
			known, err := ofCronFederatedHPA(t.Context(), hub, "shop", o)
			if err != nil {
				t.Fatal(err)
			}
			beside := all
			if o.Spec.ScaleTargetRef.Kind == v1alpha1.MultidimPodAutoscalerKind {
				beside = all
			}
			_, wantWarnings := admission.ValidateCronFederatedHPA(o, nil, beside)
			_, warnings := admission.ValidateCronFederatedHPA(o, nil, known)
			if diff := cmp.Diff(wantWarnings, warnings, sorted, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d: %s (-all +looked up):\n%s", seed, o.Name, diff)
			}
			met += len(warnings)
		}
	}
	if uint64(met) < fleettest.Rounds(500, 4) {
		t.Errorf("only %d faults and warnings came up", met)
	}
}

func texts(faults field.ErrorList) []string {
	var all []string
	for _, fault := range faults {
		all = append(all, fault.Error())
	}
	return all
}

func sameText(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func TestTrimLeavesWhatRulesRead(t *testing.T) {
	for _, o := range newCrowd(t, rand.New(rand.NewPCG(1, 0))).objects() {
		want := o.DeepCopyObject().(client.Object)
		o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}})
		o.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "long"})
		o.SetLabels(map[string]string{"fleetscale.io/managed-by": "1"})
		want.SetLabels(o.GetLabels())
		switch o := o.(type) {
		case *v1alpha1.FederatedHPA:
			o.Status.DesiredReplicas = 3
		case *v1alpha1.CronFederatedHPA:
			o.Status.LastExecutionTime = &metav1.Time{}
		case *v1alpha1.MultidimPodAutoscaler:
			o.Status.DesiredReplicas = 3
		case *autoscalingv2.HorizontalPodAutoscaler:
			o.Status.DesiredReplicas = 3
		}
		got, err := Trim(o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +trimmed):\n%s", diff)
		}
	}
	if got, err := Trim("a tombstone"); got != "a tombstone" || err != nil {
		t.Errorf("Trim of something else = %v, %v", got, err)
	}
}

// What is said of an object names others of its namespace only: those of another one, with whatever name and workload, are nobody's
// business there.
func TestOthersOfAnotherNamespaceAreNotNamed(t *testing.T) {
	elsewhere := func(o client.Object) client.Object {
		o.SetNamespace("secret")
		o.SetName("secret-" + o.GetName())
		return o
	}
	secret := func(names ...string) (all []client.Object) {
		for _, name := range names {
			all = append(all, elsewhere(object[v1alpha1.FederatedHPA](t, fhpa(name, "web"))), elsewhere(hpa("secret", name, "web")),
				elsewhere(object[v1alpha1.MultidimPodAutoscaler](t, mpa(name, "web"))),
				elsewhere(object[v1alpha1.CronFederatedHPA](t, cron(name, "Deployment", "web", "targetReplicas: 3"))),
				elsewhere(object[v1alpha1.CronFederatedHPA](t, cron("of-"+name, "FederatedHPA", "new", "targetMinReplicas: 99"))))
		}
		return all
	}
	handlers, _ := handlersOf(hubWith(t, append(secret("a", "b"), object[v1alpha1.FederatedHPA](t, fhpa("open", "taken")))...))
	for path, text := range map[string]string{
		"/validate-federatedhpa":          fhpa("new", "web"),
		"/validate-multidimpodautoscaler": mpa("new", "web"),
		"/validate-cronfederatedhpa":      cron("new", "Deployment", "web", "targetReplicas: 3"),
	} {
		response := ask(t, handlers[path], review(t, text, ""))
		if !response.Allowed || len(response.Warnings) > 0 {
			t.Errorf("%s: allowed %v, warned %q: of objects in another namespace", path, response.Allowed, response.Warnings)
		}
	}
	response := ask(t, handlers["/validate-federatedhpa"], review(t, fhpa("new", "taken"), ""))
	if response.Allowed || !strings.Contains(response.Result.Message, `"open"`) || strings.Contains(response.Result.Message, "secret") {
		t.Errorf("refused with %q, want that the neighbour is named", response.Result.Message)
	}
}

// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/admission/admissiontest"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/schedule"
)

// The seeds are every manifest, and manifests with the changes of others.
func FuzzFederatedHPA(f *testing.F) {
	for _, text := range seeds(f, v1alpha1.FederatedHPAKind) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		object := &v1alpha1.FederatedHPA{}
		if json.Unmarshal(text, object) == nil {
			hold(t, object, admission.MutateFederatedHPA, admission.ValidateFederatedHPA)
		}
	})
}

// What is accepted makes a FederatedHPA that is accepted, too.
func FuzzMultidimPodAutoscaler(f *testing.F) {
	for _, text := range seeds(f, v1alpha1.MultidimPodAutoscalerKind) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		object := &v1alpha1.MultidimPodAutoscaler{}
		if json.Unmarshal(text, object) != nil ||
			!hold(t, object, admission.MutateMultidimPodAutoscaler, admission.ValidateMultidimPodAutoscaler) {
			return
		}
		request := goals.Amounts{CPU: 250, Memory: 256 << 20}
		made := goals.Child(&object.Spec, []goals.Container{{Name: "app", Requests: request}, {Name: "log", Requests: request}})
		if made.Spec == nil {
			return
		}
		child := &v1alpha1.FederatedHPA{Spec: *made.Spec}
		admission.MutateFederatedHPA(child)
		if faults, _ := admission.ValidateFederatedHPA(child, nil, admission.Neighbours{}); len(faults) > 0 {
			t.Errorf("its FederatedHPA is refused: %v", faults)
		}
	})
}

func FuzzCronFederatedHPA(f *testing.F) {
	for _, text := range seeds(f, v1alpha1.CronFederatedHPAKind) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		object := &v1alpha1.CronFederatedHPA{}
		if json.Unmarshal(text, object) != nil || !hold(t, object, admission.MutateCronFederatedHPA, admission.ValidateCronFederatedHPA) {
			return
		}
		for _, rule := range object.Spec.Rules {
			runs(t, rule)
		}
	})
}

// runs fails if the controller could not carry out an accepted rule.
func runs(t *testing.T, rule v1alpha1.CronFederatedHPARule) {
	t.Helper()
	zone := time.UTC
	var err error
	if rule.TimeZone != nil {
		if zone, err = schedule.LoadZone(*rule.TimeZone); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := schedule.Parse(rule.Schedule, zone)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2027, time.March, 1, 0, 0, 0, 0, time.UTC)
	if next := parsed.Next(now); !next.After(now) {
		t.Errorf("%q after %v is %v", rule.Schedule, now, next)
	}
	if delay := rule.MaxDelaySeconds; delay != nil && parsed.Next(now.Add(time.Duration(*delay)*time.Second)).Before(now) {
		t.Errorf("%q goes back in time", rule.Schedule)
	}
}

type object[T any] interface {
	*T
	DeepCopy() *T
}

// hold fails if an object is not treated as every object must be. It says
// whether the object is accepted.
func hold[T any, P object[T]](t *testing.T, o P, mutate func(*T) []string, validate func(_, _ *T, _ admission.Neighbours) (field.ErrorList,
	[]string)) bool {
	t.Helper()
	mutate(o)
	once := o.DeepCopy()
	mutate(o)
	fleettest.Same(t, "mutating once and twice", once, (*T)(o))
	created, warnings := validate(o, nil, admission.Neighbours{})
	again, more := validate(o, nil, admission.Neighbours{})
	fleettest.Same(t, "an answer, and the next one", answer(created, warnings), answer(again, more))
	if !equality.Semantic.DeepEqual(once, (*T)(o)) {
		t.Error("validation changes the object")
	}
	if kept, _ := validate(o, new(T), admission.Neighbours{}); len(kept) > len(created) {
		t.Errorf("an update has faults that a creation has not: %v", kept)
	}
	if kept, _ := validate(o, o.DeepCopy(), admission.Neighbours{}); len(kept) > 0 {
		t.Errorf("an update that changes nothing is refused: %v", kept)
	}
	for _, fault := range created {
		if !slices.Contains(admission.Rules(), fault.Origin) {
			t.Errorf("%v is of no rule", fault)
		}
	}
	if len(created) > 0 {
		return false
	}
	text, err := json.Marshal(o)
	read := new(T)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, read); err != nil {
		t.Fatal(err)
	}
	if !equality.Semantic.DeepEqual((*T)(o), read) {
		t.Errorf("what is accepted does not come back: %s", cmp.Diff((*T)(o), read))
	}
	return true
}

// seeds are manifests of a kind as JSON: all there are, and each with the
// changes of three others, ten times over, or twice with -short.
func seeds(t testing.TB, kind string) [][]byte {
	t.Helper()
	cases, err := admissiontest.Load(os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	cases = slices.DeleteFunc(cases, func(c *admissiontest.Case) bool { return c.Manifest.Kind() != kind })
	random := rand.New(rand.NewPCG(1, 2))
	var texts [][]byte
	for _, c := range cases {
		texts = append(texts, marshal(t, c.Manifest))
		for range fleettest.Rounds(10, 5) {
			changes := map[string]any{}
			for range 3 {
				maps.Copy(changes, cases[random.IntN(len(cases))].Set)
			}
			if manifest, err := c.Manifest.With(changes); err == nil {
				texts = append(texts, marshal(t, manifest))
			}
		}
	}
	return texts
}

func marshal(t testing.TB, manifest admissiontest.Manifest) []byte {
	t.Helper()
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"errors"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// nowhere is what is said of a workload that neither the hub nor one of two clusters has.
const nowhere = " on the hub, and none of the 2 selected clusters can scale it: east: TargetNotFound; west: TargetNotFound"

// A scale that cannot be read is told in the words of Kubernetes' own controller: what failed, and nothing before it. What follows is
// that no cluster has the workload either.
func TestAScaleThatCanNotBeRead(t *testing.T) {
	tests := map[string]struct {
		arrange func(*world)
		want    string
	}{
		"no such apiVersion": {func(w *world) { w.edit(func(s *v1alpha1.FederatedHPASpec) { s.ScaleTargetRef.APIVersion = "a/b/c" }) },
			"unexpected GroupVersion string: a/b/c"},
		"no such kind": {func(w *world) { w.edit(func(s *v1alpha1.FederatedHPASpec) { s.ScaleTargetRef.Kind = "Rollout" }) },
			"no matches for apps/, Resource=Rollout" + nowhere},
		"a kind that is served as nothing": {func(w *world) { w.program.Central.Mapper = servesNothing{w.program.Central.Mapper} },
			"unrecognized resource"},
		"no such workload":   {func(w *world) { w.hub.workloads = nil }, `deployments.apps "web" not found` + nowhere},
		"a hub that refuses": {func(w *world) { w.hub.failGet = func() error { return errors.New("no") } }, "no"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := onHub(t)
			tc.arrange(w)
			if _, err := w.reconcile(web); err == nil || !strings.HasSuffix(err.Error(), "/shop/web: "+tc.want) {
				t.Errorf("error %v, want one that ends in %q", err, tc.want)
			}
			same(t, "Events", []string{"!FailedGetScale: " + tc.want}, w.Heard())
			able := summary.Condition(&w.object().Status, autoscalingv2.AbleToScale)
			same(t, "the condition", "the HPA controller was unable to get the target's current scale: "+tc.want, able.Message)
		})
	}
}

// servesNothing knows of kinds that they exist, and no resource of them.
type servesNothing struct{ meta.RESTMapper }

func (servesNothing) RESTMappings(schema.GroupKind, ...string) ([]*meta.RESTMapping, error) {
	return nil, nil
}

func TestAnObjectThatCanNotBeRead(t *testing.T) {
	w := onHub(t)
	w.hub.Reach = func() (bool, error) { return false, errHeld }
	if _, err := w.reconcile(web); !errors.Is(err, errHeld) {
		t.Errorf("error %v, want %v", err, errHeld)
	}
}

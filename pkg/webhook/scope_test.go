// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	authenticationv1 "k8s.io/api/authentication/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// An object of a namespace that is not in scope is judged by itself, and its author is asked, since nobody is asked again when the
// namespace comes into scope. Its author learns that nobody acts on it. The hub is not asked for its neighbours.
func TestNamespaceThatIsNotInScope(t *testing.T) {
	scope, err := tenancy.NewScope([]string{"pay"})
	if err != nil {
		t.Fatal(err)
	}
	unreadable := interceptor.NewClient(hubWith(t).(client.WithWatch), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("unable to list: shop because of unknown namespace for the cache")
		},
	})
	const outside = `fleetscale acts in namespace pay only, and not in namespace "shop": whoever runs it adds that to --namespaces`
	const assigned = "\n  federatedHPAAssignment: {federatedHPAAssignmentType: Duplicated}\n"
	tests := map[string]struct {
		path, object string
		fault        string // empty: allowed
	}{
		"a FederatedHPA":          {"federatedhpa", fhpa("web", "web"), ""},
		"a CronFederatedHPA":      {"cronfederatedhpa", cron("web", "Deployment", "web", "targetReplicas: 3"), ""},
		"a MultidimPodAutoscaler": {"multidimpodautoscaler", mpa("web", "web"), ""},
		"one that cannot work": {"federatedhpa", strings.Replace(fhpa("web", "web"), "maxReplicas: 10", "maxReplicas: 0", 1),
			"must be set and greater than 0"},
		"one whose author may not": {"federatedhpa", fhpa("web", "web") + assigned, `"alice" may not create deployments.apps`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			handlers := Handlers(unreadable, scope, NewKinds(named{"deployments"}), &reviewer{}, NewMetrics(prometheus.NewRegistry()))
			r := review(t, tc.object, "")
			r.Request.UserInfo = authenticationv1.UserInfo{Username: "alice"}
			response := ask(t, handlers["/validate-"+tc.path], r)
			fleettest.Same(t, "the first warning", []string{outside}, response.Warnings[:min(1, len(response.Warnings))])
			if response.Allowed != (tc.fault == "") || !response.Allowed && !strings.Contains(response.Result.Message, tc.fault) {
				t.Errorf("allowed %v: %v; want %q", response.Allowed, response.Result, tc.fault)
			}
			r.Request.Namespace = "pay"
			if response := ask(t, handlers["/validate-"+tc.path], r); response.Allowed || response.Result.Code != 503 {
				t.Errorf("in scope its neighbours are not read: %v", response.Result)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// reviewer is a hub that knows what somebody may do.
type reviewer struct {
	allows, denies bool
	err            error
	hangs          bool
	asked          []authorizationv1.SubjectAccessReviewSpec
}

func (r *reviewer) Create(ctx context.Context, review *authorizationv1.SubjectAccessReview,
	_ metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	r.asked = append(r.asked, review.Spec)
	if r.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	review = review.DeepCopy()
	review.Status.Allowed, review.Status.Denied = r.allows, r.denies
	return review, r.err
}

// In distributed mode and for goals in it, the author is asked about the workload, once and again when another one is named.
func TestAuthorsAreAsked(t *testing.T) {
	const assigned = "\n  federatedHPAAssignment: {federatedHPAAssignmentType: Duplicated}\n"
	distributed := fhpa("web", "web") + assigned
	sized := mpa("web", "web") + assigned
	const denied = `Forbidden: "alice" may not create deployments.apps in namespace "shop", and this may have one created in every cluster that ` +
		"lacks the workload: have it written by somebody who may, or use central mode (without federatedHPAAssignment)"
	yes, no := &reviewer{allows: true}, &reviewer{}
	tests := map[string]struct {
		path, object, before string
		user                 string
		hub                  *reviewer
		asks                 bool
		fault                string
	}{
		"who may":                     {"federatedhpa", distributed, "", "alice", yes, true, ""},
		"who may not":                 {"federatedhpa", distributed, "", "alice", no, true, denied},
		"who is denied what is given": {"federatedhpa", distributed, "", "alice", &reviewer{allows: true, denies: true}, true, denied},
		"in central mode":             {"federatedhpa", fhpa("web", "web"), "", "alice", no, false, ""},
		"another workload":            {"federatedhpa", distributed, fhpa("web", "api") + assigned, "alice", no, true, denied},
		"another mode":                {"federatedhpa", distributed, fhpa("web", "web"), "alice", no, true, denied},
		"other bounds": {"federatedhpa", strings.Replace(distributed, "maxReplicas: 10", "maxReplicas: 20", 1), distributed,
			"alice", no, false, ""},
		"another version": {"federatedhpa", strings.Replace(distributed, "apps/v1", "apps/v1beta1", 1), distributed, "alice", no, false,
			""},
		"the controllers": {"federatedhpa", distributed, "", controllers, no, false, ""},
		"another ServiceAccount": {"federatedhpa", distributed, "", "system:serviceaccount:shop:controller-manager", no, true,
			strings.Replace(denied, "alice", "system:serviceaccount:shop:controller-manager", 1)},
		"goals":                 {"multidimpodautoscaler", sized, "", "alice", no, true, denied},
		"goals in central mode": {"multidimpodautoscaler", mpa("web", "web"), "", "alice", no, false, ""},
		"rules":                 {"cronfederatedhpa", cron("web", "Deployment", "web", "targetReplicas: 3"), "", "alice", no, false, ""},
		"what is being deleted": {"federatedhpa",
			strings.Replace(distributed, "namespace: shop", `namespace: shop, deletionTimestamp: "2027-01-01T00:00:00Z"`, 1),
			"", "alice", no, false, ""},
		"what is refused anyway": {"federatedhpa", strings.Replace(distributed, "maxReplicas: 10", "maxReplicas: 0", 1), "", "alice", no, false,
			"must be set and greater than 0"},
		"nobody creates": {"federatedhpa", distributed, "", "alice", nil, false, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			response, hub := judgeFor(t, tc.path, tc.object, tc.before, tc.user, tc.hub)
			var faults []string
			if response.Result != nil && response.Result.Details != nil {
				for _, cause := range response.Result.Details.Causes {
					faults = append(faults, cause.Message)
				}
			}
			if got := strings.Join(faults, "; "); !strings.Contains(got, tc.fault) || (got == "") != (tc.fault == "") ||
				response.Allowed != (got == "") {
				t.Errorf("allowed %v: %q, want %q", response.Allowed, got, tc.fault)
			}
			if hub != nil && (len(hub.asked) > 0) != tc.asks {
				t.Errorf("the hub was asked %v, want it asked: %v", hub.asked, tc.asks)
			}
		})
	}
	_, hub := judgeFor(t, "federatedhpa", distributed, "", "alice", &reviewer{allows: true})
	want := []authorizationv1.SubjectAccessReviewSpec{{
		User: "alice", UID: "7", Groups: []string{"devs"}, Extra: map[string]authorizationv1.ExtraValue{"scopes": {"a"}},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Namespace: "shop", Group: "apps", Version: "v1",
			Resource: "deployments", Name: "web"},
	}}
	fleettest.Same(t, "asked", want, hub.asked)
}

// judgeFor has a user's object judged; hub answers what the user may do, and is a copy.
func judgeFor(t *testing.T, kind, object, before, user string, hub *reviewer) (answer *admissionv1.AdmissionResponse, asked *reviewer) {
	t.Helper()
	kinds := NewKinds(named{"deployments"})
	var asks Reviewer
	if hub != nil {
		asked = &reviewer{allows: hub.allows, denies: hub.denies, err: hub.err, hangs: hub.hangs}
		asks = asked
	}
	handlers := Handlers(hubWith(t), tenancy.Scope{}, kinds, asks, NewMetrics(prometheus.NewRegistry()))
	r := review(t, object, before)
	r.Request.UserInfo = authenticationv1.UserInfo{Username: user, UID: "7", Groups: []string{"devs"},
		Extra: map[string]authenticationv1.ExtraValue{"scopes": {"a"}}}
	return ask(t, handlers["/validate-"+kind], r), asked
}

// What cannot be found out is refused, and in time.
func TestAuthorsThatCannotBeAsked(t *testing.T) {
	object := fhpa("web", "web") + "\n  federatedHPAAssignment: {federatedHPAAssignmentType: Duplicated}\n"
	response, _ := judgeFor(t, "federatedhpa", object, "", "alice", &reviewer{err: errors.New("no")})
	if want := `asking the hub whether "alice" may create deployments.apps in namespace "shop": no`; response.Allowed ||
		response.Result.Code != 503 || response.Result.Message != want {
		t.Errorf("answered %+v, want %q", response.Result, want)
	}
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		_, err := NewKinds(named{"deployments"}).authorFaults(t.Context(), &reviewer{hangs: true}, authenticationv1.UserInfo{Username: "alice"},
			"shop", to("apps/v1", "Deployment"))
		if err == nil || time.Since(begun) != reviewTimeout {
			t.Errorf("error %v after %v", err, time.Since(begun))
		}
	})
	_, err := NewKinds(&discovery{err: errors.New("away")}).authorFaults(t.Context(), &reviewer{allows: true}, authenticationv1.UserInfo{},
		"shop", to("apps/v1", "Deployment"))
	if err == nil || err.Error() != "asking the hub which resource a Deployment is: away" {
		t.Errorf("where discovery fails: %v", err)
	}
}

// A kind is asked about by the name that its resource has, and where the hub does not serve it by that which it would have.
func TestResources(t *testing.T) {
	for name, tc := range map[string]struct {
		hub    discoverer
		target string
		want   schema.GroupVersionResource
	}{
		"by its own name":  {named{"geese"}, "Deployment", schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "geese"}},
		"by the usual one": {named{"geese"}, "Rollout", schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "rollouts"}},
	} {
		got, err := NewKinds(tc.hub).resource(t.Context(), to("apps/v1", tc.target))
		if err != nil || got != tc.want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, tc.want)
		}
	}
	if _, err := NewKinds(named{}).resource(t.Context(), to("a/b/c", "Deployment")); err == nil {
		t.Error("a version that is none has a resource")
	}
}

// named is a hub that serves Deployments as this resource.
type named struct{ resource string }

func (n named) GroupsAndMaybeResourcesWithContext(context.Context) (*metav1.APIGroupList,
	map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error, error) {
	groups := &metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: "apps", Versions: []metav1.GroupVersionForDiscovery{{Version: "v1"},
		{Version: "v1beta1"}}}}}
	list := &metav1.APIResourceList{APIResources: []metav1.APIResource{{Name: n.resource + "/scale", Kind: "Deployment"},
		{Name: n.resource, Kind: "Deployment"}}}
	return groups, map[schema.GroupVersion]*metav1.APIResourceList{{Group: "apps", Version: "v1"}: list,
		{Group: "apps", Version: "v1beta1"}: list}, nil, nil
}

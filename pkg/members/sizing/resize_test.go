// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

const (
	podsPath = "/api/v1/namespaces/shop/pods/web-1"
	uid      = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
)

var pod = PodRef{Name: "web-1", UID: uid}

func TestResize(t *testing.T) {
	const none = pods.None
	as := func(cpu, memory int64) pods.Resources { return pods.Resources{MilliCPU: cpu, Memory: memory} }
	tests := map[string]struct {
		containers []ContainerResources
		want       string
	}{
		"a request": {[]ContainerResources{{"app", as(627, none), as(none, none)}},
			`[{"name":"app","resources":{"requests":{"cpu":"627m"}}}]`},
		"all": {[]ContainerResources{{"app", as(2000, 512<<20), as(3000, 1<<30)}},
			`[{"name":"app","resources":{"limits":{"cpu":"3","memory":"1Gi"},"requests":{"cpu":"2","memory":"512Mi"}}}]`},
		"nothing is something": {[]ContainerResources{{"app", as(0, none), as(none, none)}},
			`[{"name":"app","resources":{"requests":{"cpu":"0"}}}]`},
		"one of two": {[]ContainerResources{{"app", as(none, none), as(none, none)}, {"proxy", as(none, none), as(none, 7)}},
			`[{"name":"proxy","resources":{"limits":{"memory":"7"}}}]`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, "v2")
			s.Says("PATCH "+podsPath+"/resize", 200, "{}")
			fleettest.Same(t, "error", "", memberstest.Told(s.join(t).Resize(t.Context(), "shop", pod, tc.containers)))
			fleettest.Same(t, "requests", []string{
				"PATCH " + podsPath + "/resize?fieldManager=fleetscale-sizes\napplication/strategic-merge-patch+json\n" +
					`{"metadata":{"uid":"` + uid + `"},"spec":{"containers":` + tc.want + `}}`}, s.Heard())
		})
	}
}

// smaller is a change of one container.
func smaller() []ContainerResources {
	none := pods.Resources{MilliCPU: pods.None, Memory: pods.None}
	return []ContainerResources{{"app", pods.Resources{MilliCPU: 100, Memory: pods.None}, none}}
}

// A list of no containers would take them all away.
func TestResizeOfNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	stays := smaller()
	stays[0].Requests.MilliCPU = pods.None
	fleettest.Same(t, "error", "", memberstest.Told(s.join(t).Resize(t.Context(), "shop", pod, stays)))
	fleettest.Same(t, "requests", []string(nil), s.Heard())
}

func TestEvict(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	s.Says("POST "+podsPath+"/eviction", 201, `{"kind":"Status","status":"Success"}`)
	fleettest.Same(t, "error", "", memberstest.Told(s.join(t).Evict(t.Context(), "shop", pod)))
	fleettest.Same(t, "requests", []string{"POST " + podsPath + "/eviction\napplication/json\n" +
		`{"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"web-1","namespace":"shop"},"deleteOptions":{"preconditions":{"uid":"` +
		uid + `"}}}`}, s.Heard())
}

// refused is one answer of a cluster, and what it means.
type refused struct {
	code                     int
	reason, message, details string
	why                      Refusal
	silence                  string // of what is no refusal
	after                    time.Duration
	right                    bool // is what lacks
}

// refusals are in the words of API servers.
func refusals() map[string]refused {
	const unserved = `{"causes":[{"reason":"UnexpectedServerResponse","message":"404 page not found"}]}`
	return map[string]refused{
		"gone": {code: 404, reason: "NotFound", message: `pods "web-1" not found`, details: `{"name":"web-1","kind":"pods"}`, why: RefusedGone},
		"another one, by its precondition": {code: 409, reason: "Conflict", why: RefusedGone,
			message: "Operation cannot be fulfilled on Pod \"web-1\": the UID in the precondition (a) does not match the UID in record (b)."},
		"another one, as it is immutable": {code: 422, reason: "Invalid", why: RefusedGone,
			message: `Pod "web-1" is invalid: metadata.uid: Invalid value: "a": field is immutable`,
			details: `{"causes":[{"reason":"FieldValueInvalid","message":"field is immutable","field":"metadata.uid"}]}`},
		"it changed meanwhile": {code: 409, reason: "Conflict", message: "the object has been modified; please apply your changes",
			silence: "the object has been modified; please apply your changes"},
		"a budget": {code: 429, reason: "TooManyRequests", message: "Cannot evict pod as it would violate the pod's disruption budget.",
			details: `{"causes":[{"reason":"DisruptionBudget","message":"needs 2"}],"retryAfterSeconds":10}`,
			why:     RefusedBudget, after: 10 * time.Second},
		"a budget that suggests a week": {code: 429, reason: "TooManyRequests", message: "no",
			details: `{"causes":[{"reason":"DisruptionBudget"}],"retryAfterSeconds":604800}`, why: RefusedBudget, after: time.Hour},
		"two budgets": {code: 500, reason: "InternalError", why: RefusedBudget,
			message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."},
		"too many questions": {code: 429, reason: "TooManyRequests", message: "please try again later", details: `{"retryAfterSeconds":1}`,
			silence: "please try again later"},
		"the server failed": {code: 500, reason: "InternalError", message: "etcd is away", silence: "etcd is away"},
		"a right": {code: 403, reason: "Forbidden", why: RefusedRight, right: true,
			message: `pods "web-1" is forbidden: User "system:serviceaccount:f:m" cannot ` +
				`patch resource "pods/resize" in API group "" in the namespace "shop"`},
		"the node": {code: 403, reason: "Forbidden", why: RefusedNode,
			message: `pods "web-1" is forbidden: node didn't have enough allocatable resources: cpu, requested: 99000, capacity: 64000`},
		"a quota": {code: 403, reason: "Forbidden", why: RefusedQuota,
			message: `pods "web-1" is forbidden: exceeded quota: q, requested: requests.cpu=377m, used: requests.cpu=1250m, limited: ` +
				"requests.cpu=1500m"},
		"a LimitRange": {code: 403, reason: "Forbidden", why: RefusedPolicy,
			message: `pods "web-1" is forbidden: maximum cpu usage per Container is 1, but limit is 2`},
		"a webhook": {code: 403, reason: "Forbidden", why: RefusedPolicy,
			message: `admission webhook "x" denied the request: you cannot have a resource`},
		"invalid": {code: 422, reason: "Invalid", why: RefusedInvalid, message: "Pod QOS Class may not change as a result of resizing",
			details: `{"causes":[{"reason":"FieldValueInvalid","field":"spec"}]}`},
		"invalid without a word": {code: 422, reason: "Invalid", why: RefusedInvalid, details: "null"},
		"not served": {code: 404, reason: "NotFound", message: "the server could not find the requested resource", details: unserved,
			why: RefusedUnserved},
	}
}

func TestRefusals(t *testing.T) {
	for name, tc := range refusals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, "v2")
			answer := memberstest.StatusSaying(tc.code, tc.reason, tc.message, tc.details)
			s.Says("PATCH "+podsPath+"/resize", tc.code, answer)
			s.Says("POST "+podsPath+"/eviction", tc.code, answer)
			c := s.join(t)
			check(t, tc, "resizing", "patch pods/resize", c.Resize(t.Context(), "shop", pod, smaller()))
			check(t, tc, "evicting", "create pods/eviction", c.Evict(t.Context(), "shop", pod))
			if requests := s.Heard(); len(requests) != 2 {
				t.Errorf("asked %d times: %q", len(requests), requests)
			}
		})
	}
}

func check(t *testing.T, tc refused, doing, right string, err error) {
	t.Helper()
	var r *Refused
	message := tc.message
	switch is := errors.As(err, &r); {
	case tc.silence != "":
		if is || err == nil || !strings.Contains(err.Error(), tc.silence) {
			t.Errorf("%s: %v; want %q, which is no refusal", doing, err, tc.silence)
		}
		return
	case !is:
		t.Fatalf("%s: %v, want a refusal", doing, err)
	case r.Why != tc.why || r.RetryAfter != tc.after || r.Message != message || (r.Right == right) != tc.right:
		t.Errorf("%s: %+v, want %+v", doing, r, tc)
	}
	if tc.right {
		message = "our identity lacks the right to " + right + ": " + message
	}
	fleettest.Same(t, "error", doing+` Pod "web-1": `+message, err.Error())
	if status := apierrors.APIStatus(nil); !errors.As(err, &status) || int(status.Status().Code) != tc.code {
		t.Errorf("%s: what the client says is lost: %v", doing, err)
	}
}

// A page that no API server writes, and words without end, are no more than they are.
func TestRefusalsOfOthers(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	c := s.join(t)
	var r *Refused
	s.Says("PATCH "+podsPath+"/resize", 404, "404 page not found\n")
	if err := c.Resize(t.Context(), "shop", pod, smaller()); !errors.As(err, &r) || r.Why != RefusedUnserved {
		t.Errorf("a page: %v", err)
	}
	s.Says("PATCH "+podsPath+"/resize", 403, memberstest.StatusSaying(403, "Forbidden", "exceeded quota: \n"+strings.Repeat("q ", 1<<18), ""))
	if err := c.Resize(t.Context(), "shop", pod, smaller()); !errors.As(err, &r) || r.Why != RefusedQuota || len(r.Message) > longestMessage ||
		strings.Contains(r.Message, "\n") {
		t.Errorf("endless words: %.400v", err)
	}
	s.Says("PATCH "+podsPath+"/resize", 401, memberstest.Status(401, "Unauthorized", ""))
	if err := c.Resize(t.Context(), "shop", pod, smaller()); errors.As(err, new(*Refused)) || fleet.Unanswered(err).Reason != "Forbidden" {
		t.Errorf("an identity that is not known: %v", err)
	}
}

// Without its uid it could be any Pod of the name.
func TestPodsWithoutUID(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	c := s.join(t)
	fleettest.Same(t, "error", `resizing Pod "web-1": its uid is not known`,
		memberstest.Told(c.Resize(t.Context(), "shop", PodRef{Name: "web-1"}, smaller())))
	fleettest.Same(t, "error", `evicting Pod "web-1": its uid is not known`,
		memberstest.Told(c.Evict(t.Context(), "shop", PodRef{Name: "web-1"})))
	fleettest.Same(t, "requests", []string(nil), s.Heard())
}

func TestChangesEndWithTheirContext(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	c := s.join(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Evict(ctx, "shop", pod); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}

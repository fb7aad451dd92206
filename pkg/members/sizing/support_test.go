// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

const (
	policyPath  = "GET /apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/sizes.fleetscale.io"
	bindingPath = "GET /apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings/sizes.fleetscale.io"
)

// served is a list of what a version of a group serves.
func served(names ...string) string {
	var resources []string
	for _, name := range names {
		resources = append(resources, `{"name":"`+name+`","namespaced":true}`)
	}
	return `{"kind":"APIResourceList","apiVersion":"v1","resources":[` + strings.Join(resources, ",") + `]}`
}

// sizes is a server that can do all about sizes.
func sizes(t *testing.T) server {
	s := newServer(t, "v2")
	s.Says("GET /api/v1", 200, served("pods", "pods/resize"))
	s.Says("GET /apis/fleetscale.io/v1alpha1", 200, served("podsizes"))
	s.Says(policyPath, 200, `{"kind":"MutatingAdmissionPolicy","metadata":{"uid":"u1","generation":3}}`)
	s.Says(bindingPath, 200, `{"kind":"MutatingAdmissionPolicyBinding","metadata":{"uid":"u2","generation":1}}`)
	return s
}

func TestSizing(t *testing.T) {
	unserved, missing := answer{404, "404 page not found\n"}, answer{404, memberstest.Status(404, "NotFound", `{"name":"sizes.fleetscale.io"}`)}
	forbidden := answer{403, memberstest.StatusSaying(403, "Forbidden", `User "u" cannot get resource "x"`, "")}
	const remedy = "apply deploy/member-sizes there"
	tests := map[string]struct {
		answers map[string]answer
		want    Support
	}{
		"all": {nil, Support{Known: true, Serves: true, Resizes: true, Admits: true, Policies: "u1/3 u2/1 "}},
		"another policy": {map[string]answer{policyPath: {200, `{"kind":"MutatingAdmissionPolicy","metadata":{"uid":"u1","generation":4}}`}},
			Support{Known: true, Serves: true, Resizes: true, Admits: true, Policies: "u1/4 u2/1 "}},
		"no policy, but something else": {map[string]answer{policyPath: {200, `{"kind":"Pod"}`}},
			Support{Silence: &fleet.Silence{Reason: fleet.ReasonBadAnswer}}},
		"an old one": {map[string]answer{"GET /api/v1": {200, served("pods")}, "GET /apis/fleetscale.io/v1alpha1": unserved,
			policyPath:  unserved,
			bindingPath: unserved}, Support{Known: true, Reason: NoResize,
			Message: "it does not serve pods/resize: Kubernetes 1.33 and later do; it does not serve podsizes.fleetscale.io: " + remedy +
				"; it does not serve mutatingadmissionpolicies.admissionregistration.k8s.io: Kubernetes 1.36 and later do" +
				"; it does not serve mutatingadmissionpolicybindings.admissionregistration.k8s.io: Kubernetes 1.36 and later do"}},
		"no kind": {map[string]answer{"GET /apis/fleetscale.io/v1alpha1": {200, served("other")}}, Support{Known: true, Resizes: true,
			Policies: "u1/3 u2/1 ",
			Reason:   NoPodSizes, Message: "it does not serve podsizes.fleetscale.io: " + remedy}},
		"no policies": {map[string]answer{policyPath: unserved}, Support{Known: true, Serves: true, Resizes: true, Policies: "u2/1 ",
			Reason:  NoPolicies,
			Message: "it does not serve mutatingadmissionpolicies.admissionregistration.k8s.io: Kubernetes 1.36 and later do"}},
		"no policy": {map[string]answer{policyPath: missing}, Support{Known: true, Serves: true, Resizes: true, Policies: "u2/1 ",
			Reason:  NoPolicy,
			Message: "it has no mutatingadmissionpolicies.admissionregistration.k8s.io sizes.fleetscale.io: " + remedy}},
		"no binding": {map[string]answer{bindingPath: missing}, Support{Known: true, Serves: true, Resizes: true, Policies: "u1/3 ",
			Reason:  NoPolicy,
			Message: "it has no mutatingadmissionpolicybindings.admissionregistration.k8s.io sizes.fleetscale.io: " + remedy}},
		"no right": {map[string]answer{bindingPath: forbidden}, Support{Known: true, Serves: true, Resizes: true, Policies: "u1/3 ",
			Reason: Forbidden,
			Message: "our identity lacks the right to get mutatingadmissionpolicybindings.admissionregistration.k8s.io sizes.fleetscale.io: " +
				remedy}},
		"it fails": {map[string]answer{policyPath: {500, memberstest.Status(500, "InternalError", "")}},
			Support{Silence: &fleet.Silence{Reason: fleet.ReasonServerError}}},
		"discovery fails": {map[string]answer{"GET /api/v1": {500, memberstest.Status(500, "InternalError", "")}},
			Support{Silence: &fleet.Silence{Reason: fleet.ReasonServerError}}},
		"no list": {map[string]answer{"GET /apis/fleetscale.io/v1alpha1": {200, `{"kind":"Pod"}`}},
			Support{Silence: &fleet.Silence{Reason: fleet.ReasonBadAnswer}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sizes(t)
			for request, a := range tc.answers {
				s.Says(request, a.code, a.body)
			}
			c := s.join(t)
			got := c.Support(t.Context())
			if got.Silence != nil {
				got.Silence.Detail = ""
			}
			fleettest.Same(t, "sizing", tc.want, got)
			s.Heard()
			c.Support(t.Context())
			fleettest.Same(t, "requests of a second question", []string(nil), s.Heard())
		})
	}
}

// What a silent cluster could do is what it can do, as far as is known, and it is not asked.
func TestSizingOfASilentCluster(t *testing.T) {
	t.Parallel()
	s := sizes(t)
	c := s.join(t)
	c.Support(t.Context())
	s.Set(func() { s.Refuses = true })
	memberstest.Until(t, "a silent cluster", func() bool { return c.Silence() != nil })
	s.Heard()
	got := c.Support(t.Context())
	fleettest.Same(t, "reason", fleet.ReasonForbidden, got.Silence.Reason)
	got.Silence = nil
	fleettest.Same(t, "sizing", Support{Known: true, Serves: true, Resizes: true, Admits: true, Policies: "u1/3 u2/1 "}, got)
	fleettest.Same(t, "requests", []string(nil), s.Heard())
}

// finder counts how often a cluster is asked.
type finder struct {
	asked int
	found Support
	err   error
}

func (f *finder) find(context.Context) (Support, error) {
	f.asked++
	return f.found, f.err
}

func TestSizingIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := supports{known: map[*member.Member]*support{}}
		one := all.of(nil, time.Now())
		f := &finder{found: Support{Known: true, Resizes: true}}
		for range 3600 {
			fleettest.Same(t, "sizing", f.found, one.ask(t.Context(), f.find))
			time.Sleep(time.Second)
		}
		if f.asked < 3600/150 || f.asked > 3600/100+1 {
			t.Errorf("asked %d times in an hour", f.asked)
		}

		f.err = errors.New("it is silent")
		time.Sleep(3 * time.Minute)
		got := one.ask(t.Context(), f.find)
		fleettest.Same(t, "silence", fleet.ReasonUnreachable, got.Silence.Reason)
		f.err, f.found = nil, Support{Known: true, Admits: true}
		fleettest.Same(t, "sizing as it was last, and its silence", got, one.ask(t.Context(), f.find))
		time.Sleep(3 * time.Minute)
		fleettest.Same(t, "sizing as it is then", f.found, one.ask(t.Context(), f.find))
	})
}

// Those who ask at once have the cluster be asked once. Who asks first waits; later, nobody waits for another.
func TestSizingIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := supports{known: map[*member.Member]*support{}}
		one := all.of(nil, time.Now())
		want := Support{Known: true, Admits: true}
		asked := 0
		slow := func(ctx context.Context) (Support, error) {
			asked++
			if deadline, set := ctx.Deadline(); !set || time.Until(deadline) > supportTimeout {
				t.Errorf("the deadline is %v", deadline)
			}
			time.Sleep(5 * time.Second)
			return want, nil
		}
		waited := func() []time.Duration {
			var asking sync.WaitGroup
			took := make([]time.Duration, 10)
			for i := range took {
				asking.Go(func() {
					begun := time.Now()
					fleettest.Same(t, "sizing", want, one.ask(t.Context(), slow))
					took[i] = time.Since(begun)
				})
			}
			asking.Wait()
			return took
		}
		for _, took := range waited() {
			fleettest.Same(t, "time that all wait", 5*time.Second, took)
		}
		time.Sleep(3 * time.Minute)
		waiting := 0
		for _, took := range waited() {
			if took > 0 {
				waiting++
			}
		}
		fleettest.Same(t, "how many wait the second time", 1, waiting)
		fleettest.Same(t, "how often it is asked", 2, asked)
	})
}

// That somebody does not wait says nothing of the cluster, and others ask it.
func TestSizingOfWhoDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := supports{known: map[*member.Member]*support{}}
		one := all.of(nil, time.Now())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		never := func(ctx context.Context) (Support, error) {
			<-ctx.Done()
			return Support{}, fmt.Errorf("asking: %w", ctx.Err())
		}
		var asking sync.WaitGroup
		for range 2 {
			asking.Go(func() {
				if got := one.ask(ctx, never); got.Known || got.Silence == nil || got.Silence.Reason != fleet.ReasonTimeout {
					t.Errorf("sizing: %+v", got)
				}
			})
		}
		asking.Wait()
		f := &finder{found: Support{Known: true}}
		fleettest.Same(t, "sizing", f.found, one.ask(t.Context(), f.find))
	})
}

// What nobody asks for is forgotten.
func TestSizingIsForgotten(t *testing.T) {
	all := supports{known: map[*member.Member]*support{}}
	now := time.Now()
	kept := &member.Member{}
	for range 1000 {
		all.of(&member.Member{}, now)
	}
	for range 30 {
		now = now.Add(time.Minute)
		all.of(kept, now)
	}
	fleettest.Same(t, "how many are remembered", 1, len(all.known))
}

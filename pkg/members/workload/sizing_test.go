// SPDX-License-Identifier: Apache-2.0

package workload

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
	"github.com/fleetscale/fleetscale/pkg/members/member"
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
func sizes(t *testing.T) *server {
	s := newServer(t, "v2")
	s.says("GET /api/v1", 200, served("pods", "pods/resize"))
	s.says("GET /apis/fleetscale.io/v1alpha1", 200, served("podsizes"))
	s.says(policyPath, 200, `{"kind":"MutatingAdmissionPolicy","metadata":{"uid":"u1","generation":3}}`)
	s.says(bindingPath, 200, `{"kind":"MutatingAdmissionPolicyBinding","metadata":{"uid":"u2","generation":1}}`)
	return s
}

func TestSizing(t *testing.T) {
	unserved, missing := answer{404, "404 page not found\n"}, answer{404, status(404, "NotFound", `{"name":"sizes.fleetscale.io"}`)}
	forbidden := answer{403, statusSaying(403, "Forbidden", `User "u" cannot get resource "x"`, "")}
	const remedy = "apply deploy/member-sizes there"
	tests := map[string]struct {
		answers map[string]answer
		want    Sizing
	}{
		"all": {nil, Sizing{Known: true, Serves: true, Resizes: true, Admits: true, Policies: "u1/3 u2/1 "}},
		"another policy": {map[string]answer{policyPath: {200, `{"kind":"MutatingAdmissionPolicy","metadata":{"uid":"u1","generation":4}}`}},
			Sizing{Known: true, Serves: true, Resizes: true, Admits: true, Policies: "u1/4 u2/1 "}},
		"no policy, but something else": {map[string]answer{policyPath: {200, `{"kind":"Pod"}`}},
			Sizing{Silence: &fleet.Silence{Reason: fleet.ReasonBadAnswer}}},
		"an old one": {map[string]answer{"GET /api/v1": {200, served("pods")}, "GET /apis/fleetscale.io/v1alpha1": unserved,
			policyPath:  unserved,
			bindingPath: unserved}, Sizing{Known: true, Reason: SizingNoResize,
			Message: "it does not serve pods/resize: Kubernetes 1.33 and later do; it does not serve podsizes.fleetscale.io: " + remedy +
				"; it does not serve mutatingadmissionpolicies.admissionregistration.k8s.io: Kubernetes 1.36 and later do" +
				"; it does not serve mutatingadmissionpolicybindings.admissionregistration.k8s.io: Kubernetes 1.36 and later do"}},
		"no kind": {map[string]answer{"GET /apis/fleetscale.io/v1alpha1": {200, served("other")}}, Sizing{Known: true, Resizes: true,
			Policies: "u1/3 u2/1 ",
			Reason:   SizingNoPodSizes, Message: "it does not serve podsizes.fleetscale.io: " + remedy}},
		"no policies": {map[string]answer{policyPath: unserved}, Sizing{Known: true, Serves: true, Resizes: true, Policies: "u2/1 ",
			Reason:  SizingNoPolicies,
			Message: "it does not serve mutatingadmissionpolicies.admissionregistration.k8s.io: Kubernetes 1.36 and later do"}},
		"no policy": {map[string]answer{policyPath: missing}, Sizing{Known: true, Serves: true, Resizes: true, Policies: "u2/1 ",
			Reason:  SizingNoPolicy,
			Message: "it has no mutatingadmissionpolicies.admissionregistration.k8s.io sizes.fleetscale.io: " + remedy}},
		"no binding": {map[string]answer{bindingPath: missing}, Sizing{Known: true, Serves: true, Resizes: true, Policies: "u1/3 ",
			Reason:  SizingNoPolicy,
			Message: "it has no mutatingadmissionpolicybindings.admissionregistration.k8s.io sizes.fleetscale.io: " + remedy}},
		"no right": {map[string]answer{bindingPath: forbidden}, Sizing{Known: true, Serves: true, Resizes: true, Policies: "u1/3 ",
			Reason: SizingForbidden,
			Message: "our identity lacks the right to get mutatingadmissionpolicybindings.admissionregistration.k8s.io sizes.fleetscale.io: " +
				remedy}},
		"it fails": {map[string]answer{policyPath: {500, status(500, "InternalError", "")}},
			Sizing{Silence: &fleet.Silence{Reason: fleet.ReasonServerError}}},
		"discovery fails": {map[string]answer{"GET /api/v1": {500, status(500, "InternalError", "")}},
			Sizing{Silence: &fleet.Silence{Reason: fleet.ReasonServerError}}},
		"no list": {map[string]answer{"GET /apis/fleetscale.io/v1alpha1": {200, `{"kind":"Pod"}`}},
			Sizing{Silence: &fleet.Silence{Reason: fleet.ReasonBadAnswer}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sizes(t)
			for request, a := range tc.answers {
				s.says(request, a.code, a.body)
			}
			c := s.join(t)
			got := c.Sizing(t.Context())
			if got.Silence != nil {
				got.Silence.Detail = ""
			}
			same(t, "sizing", tc.want, got)
			s.heard()
			c.Sizing(t.Context())
			same(t, "requests of a second question", []string(nil), s.heard())
		})
	}
}

// What a silent cluster could do is what it can do, as far as is known, and it is not asked.
func TestSizingOfASilentCluster(t *testing.T) {
	t.Parallel()
	s := sizes(t)
	c := s.join(t)
	c.Sizing(t.Context())
	s.set(func() { s.refuses = true })
	eventually(t, "a silent cluster", func() bool { return c.Silence() != nil })
	s.heard()
	got := c.Sizing(t.Context())
	same(t, "reason", fleet.ReasonForbidden, got.Silence.Reason)
	got.Silence = nil
	same(t, "sizing", Sizing{Known: true, Serves: true, Resizes: true, Admits: true, Policies: "u1/3 u2/1 "}, got)
	same(t, "requests", []string(nil), s.heard())
}

// finder counts how often a cluster is asked.
type finder struct {
	asked int
	found Sizing
	err   error
}

func (f *finder) find(context.Context) (Sizing, error) {
	f.asked++
	return f.found, f.err
}

func TestSizingIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := sizings{known: map[*member.Member]*sizing{}}
		one := all.of(nil, time.Now())
		f := &finder{found: Sizing{Known: true, Resizes: true}}
		for range 3600 {
			same(t, "sizing", f.found, one.ask(t.Context(), f.find))
			time.Sleep(time.Second)
		}
		if f.asked < 3600/150 || f.asked > 3600/100+1 {
			t.Errorf("asked %d times in an hour", f.asked)
		}

		f.err = errors.New("it is silent")
		time.Sleep(3 * time.Minute)
		got := one.ask(t.Context(), f.find)
		same(t, "silence", fleet.ReasonUnreachable, got.Silence.Reason)
		f.err, f.found = nil, Sizing{Known: true, Admits: true}
		same(t, "sizing as it was last, and its silence", got, one.ask(t.Context(), f.find))
		time.Sleep(3 * time.Minute)
		same(t, "sizing as it is then", f.found, one.ask(t.Context(), f.find))
	})
}

// Those who ask at once have the cluster be asked once. Who asks first waits; later, nobody waits for another.
func TestSizingIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := sizings{known: map[*member.Member]*sizing{}}
		one := all.of(nil, time.Now())
		want := Sizing{Known: true, Admits: true}
		asked := 0
		slow := func(ctx context.Context) (Sizing, error) {
			asked++
			if deadline, set := ctx.Deadline(); !set || time.Until(deadline) > sizingTimeout {
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
					same(t, "sizing", want, one.ask(t.Context(), slow))
					took[i] = time.Since(begun)
				})
			}
			asking.Wait()
			return took
		}
		for _, took := range waited() {
			same(t, "time that all wait", 5*time.Second, took)
		}
		time.Sleep(3 * time.Minute)
		waiting := 0
		for _, took := range waited() {
			if took > 0 {
				waiting++
			}
		}
		same(t, "how many wait the second time", 1, waiting)
		same(t, "how often it is asked", 2, asked)
	})
}

// That somebody does not wait says nothing of the cluster, and others ask it.
func TestSizingOfWhoDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := sizings{known: map[*member.Member]*sizing{}}
		one := all.of(nil, time.Now())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		never := func(ctx context.Context) (Sizing, error) {
			<-ctx.Done()
			return Sizing{}, fmt.Errorf("asking: %w", ctx.Err())
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
		f := &finder{found: Sizing{Known: true}}
		same(t, "sizing", f.found, one.ask(t.Context(), f.find))
	})
}

// What nobody asks for is forgotten.
func TestSizingIsForgotten(t *testing.T) {
	all := sizings{known: map[*member.Member]*sizing{}}
	now := time.Now()
	kept := &member.Member{}
	for range 1000 {
		all.of(&member.Member{}, now)
	}
	for range 30 {
		now = now.Add(time.Minute)
		all.of(kept, now)
	}
	same(t, "how many are remembered", 1, len(all.known))
}

// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

// item is a HorizontalPodAutoscaler in a list.
func item(name, more string) string {
	return `{"metadata":{"namespace":"shop","name":"` + name + `","uid":"` + name +
		`","resourceVersion":"5","managedFields":[{"manager":"m"}],"annotations":{"a":"b"}` + more + `},
		"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"minReplicas":2,"maxReplicas":9},"status":{"desiredReplicas":4}}`
}

const ours = `,"labels":{"fleetscale.io/managed-by":"7"}`

func list(version, next, items string) string {
	return `{"kind":"HorizontalPodAutoscalerList","apiVersion":"autoscaling/` + version + `","metadata":{"resourceVersion":"5","continue":"` +
		next + `"},"items":[` + items + `]}`
}

// kept returns what is seen of an item.
func kept(name string, ours bool) *autoscalingv2.HorizontalPodAutoscaler {
	hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name),
		Annotations: map[string]string{"a": "b"}}}
	hpa.Spec.ScaleTargetRef = web
	if ours {
		hpa.ResourceVersion, hpa.Labels = "5", map[string]string{v1alpha1.ManagedByLabel: "7"}
		hpa.Spec.MinReplicas, hpa.Spec.MaxReplicas, hpa.Status.DesiredReplicas = new(int32(2)), 9, 4
	}
	return hpa
}

// Where the version is one that can be watched, it is.
func TestAutoscalersAreWatched(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v1", "v2beta2", "v2")
	s.Says("GET "+v2Path, 200, list("v2", "", item("own", "")+","+item("web", ours)))
	s.Says("GET "+v2Path+" watch", 200, `{"type":"ADDED","object":{"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2",`+item("new",
		ours)[1:]+`}`+"\n")
	c := s.join(t)
	var seen Autoscalers
	memberstest.Until(t, "what came after the list", func() bool {
		seen = c.Autoscalers(t.Context(), "shop")
		return len(seen.Objects) == 3
	})
	fleettest.Same(t, "autoscalers", Autoscalers{Known: true, Version: "autoscaling/v2",
		Objects: []*autoscalingv2.HorizontalPodAutoscaler{kept("new", true), kept("own", false), kept("web", true)}}, seen)
	if requests := s.Heard(); len(requests) != 2 {
		t.Errorf("requests = %q, want a list and a watch", requests)
	}

	t.Log("silent")
	s.Set(func() { s.Refuses = true })
	memberstest.Until(t, "a silent cluster", func() bool { return c.Silence() != nil })
	silent := c.Autoscalers(t.Context(), "shop")
	fleettest.Same(t, "reason", fleet.ReasonForbidden, silent.Silence.Reason)
	silent.Silence = nil
	fleettest.Same(t, "what was seen last", seen, silent)
}

func TestWatchIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	s.Says("GET "+v2Path, 403, memberstest.Status(403, "Forbidden", ""))
	seen := s.join(t).Autoscalers(t.Context(), "shop")
	fleettest.Same(t, "reason", fleet.ReasonForbidden, seen.Silence.Reason)
	seen.Silence = nil
	fleettest.Same(t, "autoscalers", Autoscalers{Version: "autoscaling/v2"}, seen)
}

// A cluster that serves the old version only is asked each time.
func TestAutoscalersOfAnOldCluster(t *testing.T) {
	pages := []string{"GET " + v2beta2Path + "?limit=500", "GET " + v2beta2Path + "?continue=next&limit=500"}
	refused := answer{403, memberstest.Status(403, "Forbidden", "")}
	evil := `{"spec":{"metrics":[{"pods":{"target":{"averageValue":"1e-2147483648"}}}]}}`
	tests := map[string]struct {
		first, second answer
		requests      []string
		objects       []*autoscalingv2.HorizontalPodAutoscaler
		silence       fleet.Reason
	}{
		"none": {answer{200, list("v2beta2", "", "")}, answer{}, pages[:1], nil, ""},
		"in pages, in no order": {answer{200, list("v2beta2", "next", item("web", ours))}, answer{200, list("v2beta2", "", item("own", ""))},
			pages,
			[]*autoscalingv2.HorizontalPodAutoscaler{kept("own", false), kept("web", true)}, ""},
		"refused":            {refused, answer{}, pages[:1], nil, fleet.ReasonForbidden},
		"refused in between": {answer{200, list("v2beta2", "next", item("web", ours))}, refused, pages, nil, fleet.ReasonForbidden},
		"too late for a page": {answer{200, list("v2beta2", "next", item("web", ours))}, answer{410, memberstest.Status(410, "Expired", "")},
			pages, nil,
			fleet.ReasonBadAnswer},
		"served no more": {answer{404, "404 page not found"}, answer{}, pages[:1], nil, fleet.ReasonBadAnswer},
		"not a list":     {answer{200, `{"kind":"Deployment"}`}, answer{}, pages[:1], nil, fleet.ReasonBadAnswer},
		"continues forever": {answer{200, list("v2beta2", "next", item("web", ours))}, answer{200, list("v2beta2", "next", "")}, pages,
			nil, fleet.ReasonBadAnswer},
		"a quantity forever": {answer{200, list("v2beta2", "", evil)}, answer{}, pages[:1], nil, fleet.ReasonBadAnswer},
		"not even JSON":      {answer{200, `<html>`}, answer{}, pages[:1], nil, fleet.ReasonBadAnswer},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, "v1", "v2beta1", "v2beta2")
			s.Says("GET "+v2beta2Path, tc.first.code, tc.first.body)
			s.Says("GET "+v2beta2Path+" next", tc.second.code, tc.second.body)
			seen := s.join(t).Autoscalers(t.Context(), "shop")
			var reason fleet.Reason
			if seen.Silence != nil {
				reason = seen.Silence.Reason
			}
			fleettest.Same(t, "reason", tc.silence, reason)
			seen.Silence = nil
			fleettest.Same(t, "autoscalers", Autoscalers{Version: "autoscaling/v2beta2", Known: reason == "", Objects: tc.objects}, seen)
			fleettest.Same(t, "requests", tc.requests, s.Heard())
		})
	}
}

func TestNoVersionOfAutoscalers(t *testing.T) {
	t.Parallel()
	c := newServer(t, "v1", "v2beta1").join(t)
	seen := c.Autoscalers(t.Context(), "shop")
	fleettest.Same(t, "autoscalers", Autoscalers{Silence: &fleet.Silence{Reason: ReasonUnsupportedAutoscalers,
		Detail: "the cluster serves neither autoscaling/v2 nor autoscaling/v2beta2; it needs Kubernetes 1.16 or later"}}, seen)
}

// A cluster comes to serve another version while it is known.
func TestVersionChanges(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v1")
	s.Says("GET "+v2Path, 200, list("v2", "", item("web", ours)))
	c := s.join(t)
	if _, err := c.Scale(t.Context(), "shop", web); err == nil { // so that all APIs are known
		t.Error("there is a scale")
	}
	s.Set(func() { s.Versions = []string{"v1", "v2"} })
	seen := c.Autoscalers(t.Context(), "shop")
	fleettest.Same(t, "version", "autoscaling/v2", seen.Version)
	fleettest.Same(t, "objects", []*autoscalingv2.HorizontalPodAutoscaler{kept("web", true)}, seen.Objects)
}

// No call waits for a cluster that is known to be silent, nor asks it.
func TestSilentClusters(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2beta2")
	silent := s.join(t)
	s.Set(func() { s.Refuses, s.Hangs = true, make(chan struct{}) })
	memberstest.Until(t, "a silent cluster", func() bool { return silent.Silence() != nil })
	for name, c := range map[string]Cluster{"registered": silent, "not registered": Unregistered("east")} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			reason := c.Silence().Reason
			_, scaleErr := c.Scale(ctx, "shop", web)
			_, getErr := c.Get(ctx, "shop", web)
			_, applyErr := c.Apply(ctx, owner, autoscaler())
			hpa := autoscaler()
			hpa.UID = "u"
			for call, err := range map[string]error{
				"Scale": scaleErr, "SetScale": c.SetScale(ctx, web, nil), "Get": getErr, "Create": c.Create(ctx, deployment()),
				"Remove": c.Remove(ctx, deployment()), "Apply": applyErr, "Delete": c.Delete(ctx, hpa),
			} {
				fleettest.Same(t, "error of "+call, "silence: "+string(reason), memberstest.Told(err))
			}
			seen := c.Autoscalers(ctx, "shop")
			fleettest.Same(t, "reason", reason, seen.Silence.Reason)
			seen.Silence = nil
			fleettest.Same(t, "autoscalers", Autoscalers{}, seen)
			if l := c.Pods(ctx, "shop", labels.Everything()); l.Known || l.Silent == nil || l.Silent.Reason != reason {
				t.Errorf("Pods = %+v", l)
			}
			if n, known := c.Additional(ctx, "shop", web, nil); known {
				t.Errorf("room for %d more is known", n)
			}
			fleettest.Same(t, "name", "east", c.Facts().Name)
			fleettest.Same(t, "reason of the sizer", reason, c.Sizer().VPAs(ctx, "shop").Silence.Reason)
			if _, registered := c.(memberCluster); !registered {
				fleettest.Same(t, "clock offset", time.Duration(0), c.ClockOffset())
			}
		})
	}
	fleettest.Same(t, "requests", []string(nil), s.Heard())
}

// Calls end with their context, though the cluster is just being asked what it serves.
func TestCallsEnd(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	c := s.join(t)
	hangs := make(chan struct{})
	s.Set(func() { s.Hangs = hangs })
	defer close(hangs)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	seen := c.Autoscalers(ctx, "shop")
	_, err := c.Apply(ctx, owner, autoscaler())
	fleettest.Same(t, "error", fleet.ReasonTimeout, fleet.Unanswered(err).Reason)
	fleettest.Same(t, "reason", fleet.ReasonTimeout, seen.Silence.Reason)
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestEveryRegisteredClusterIsListed(t *testing.T) {
	t.Parallel()
	c := newServer(t, "v2").join(t)
	fleettest.Same(t, "name", "east", c.Facts().Name)
	if offset := c.ClockOffset(); offset.Abs() > 2*time.Second {
		t.Errorf("the clock of this machine is off by %v", offset)
	}
}

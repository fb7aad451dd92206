// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/vpa"
	"github.com/fleetscale/fleetscale/pkg/compact/heaptest"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

const (
	vpaPath = "/apis/autoscaling.k8s.io/v1/namespaces/shop/verticalpodautoscalers"
	onWeb   = `"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}`
	off     = `,"updatePolicy":{"updateMode":"Off"}`
)

// verticalItem is a VerticalPodAutoscaler in a list. It holds a quantity that takes forever, which nobody parses.
func verticalItem(name, spec string) string {
	return `{"metadata":{"namespace":"shop","name":"` + name + `","uid":"` + name + `","resourceVersion":"5","managedFields":[{"manager":"m"}],` +
		`"annotations":{"a":"b"},"labels":{"a":"b"}},"spec":` + spec +
		`,"status":{"recommendation":{"containerRecommendations":[{"target":{"cpu":"1e-2147483648"}}]}}}`
}

func verticalList(next string, items ...string) string {
	return `{"kind":"VerticalPodAutoscalerList","apiVersion":"autoscaling.k8s.io/v1","metadata":{"resourceVersion":"5","continue":"` + next +
		`"},"items":[` + strings.Join(items, ",") + `]}`
}

// keptVertical is what is seen of an item.
func keptVertical(name, mode string, target autoscalingv2.CrossVersionObjectReference) *vpa.VerticalPodAutoscaler {
	return &vpa.VerticalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
		Spec:       vpa.Spec{TargetRef: target, UpdatePolicy: vpa.UpdatePolicy{UpdateMode: mode}},
	}
}

func TestVPAsAreWatched(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	s.Says("GET "+vpaPath, 200, verticalList("", verticalItem("advice", "{"+onWeb+off+"}"), verticalItem("own", "{"+onWeb+"}")))
	s.Says("GET "+vpaPath+" watch", 200, `{"type":"ADDED","object":{"kind":"VerticalPodAutoscaler","apiVersion":"autoscaling.k8s.io/v1",`+
		verticalItem("new", "{"+onWeb+"}")[1:]+`}`+"\n")
	c := s.join(t)
	var seen VPAs
	memberstest.Until(t, "what came after the list", func() bool {
		seen = c.VPAs(t.Context(), "shop")
		return len(seen.Objects) == 3
	})
	fleettest.Same(t, "vpas", VPAs{Known: true, Objects: []*vpa.VerticalPodAutoscaler{
		keptVertical("advice", "Off", web), keptVertical("new", "", web), keptVertical("own", "", web),
	}}, seen)
	if requests := s.Heard(); len(requests) != 2 {
		t.Errorf("requests = %q, want a list and a watch", requests)
	}

	t.Log("silent")
	s.Set(func() { s.Refuses = true })
	memberstest.Until(t, "a silent cluster", func() bool { return c.Silence() != nil })
	silent := c.VPAs(t.Context(), "shop")
	fleettest.Same(t, "reason", fleet.ReasonForbidden, silent.Silence.Reason)
	silent.Silence = nil
	fleettest.Same(t, "what was seen last", seen, silent)
}

func TestVPAsOfAMember(t *testing.T) {
	ghost := `{"targetRef":{"apiVersion":"a/b/c","kind":"` + strings.Repeat("k", 1000) + `","name":"../web"}}`
	tests := map[string]struct {
		answer  answer
		silence fleet.Reason // where they are not known
		objects []*vpa.VerticalPodAutoscaler
	}{
		"none":                         {answer{200, verticalList("")}, "", nil},
		"the kind is not served":       {answer{404, "404 page not found\n"}, "", nil},
		"the kind is no longer served": {answer{404, memberstest.Status(404, "NotFound", "")}, "", nil},
		"we may not list them":         {answer{403, memberstest.Status(403, "Forbidden", "")}, fleet.ReasonForbidden, nil},
		"out of order":                 {answer{500, memberstest.Status(500, "InternalError", "")}, fleet.ReasonServerError, nil},
		"garbage in targetRef": {answer{200, verticalList("", verticalItem("a", `{"targetRef":7}`), verticalItem("b", "{"+onWeb+"}"),
			verticalItem("c", ghost), verticalItem("d", `[]`))}, "", []*vpa.VerticalPodAutoscaler{
			keptVertical("a", "", autoscalingv2.CrossVersionObjectReference{}), keptVertical("b", "", web),
			keptVertical("c", "", autoscalingv2.CrossVersionObjectReference{APIVersion: "a/b/c", Kind: strings.Repeat("k", 1000), Name: "../web"}),
			keptVertical("d", "", autoscalingv2.CrossVersionObjectReference{}),
		}},
		"a list of something else": {answer{200, listOfOthers}, fleet.ReasonBadAnswer, nil},
		"not a list":               {answer{200, `{"kind":"VerticalPodAutoscaler","apiVersion":"autoscaling.k8s.io/v1"}`}, fleet.ReasonBadAnswer, nil},
		"a kind that nobody knows": {answer{200, `{"kind":"RiskList","apiVersion":"autoscaling.k8s.io/v1"}`}, fleet.ReasonBadAnswer, nil},
		"half of an answer":        {answer{200, verticalList("")[:50]}, fleet.ReasonBadAnswer, nil},
		"not even JSON":            {answer{200, `<html>`}, fleet.ReasonBadAnswer, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, "v2")
			s.Says("GET "+vpaPath, tc.answer.code, tc.answer.body)
			s.Says("GET "+vpaPath+" watch", 200, "")
			seen := s.join(t).VPAs(t.Context(), "shop")
			var reason fleet.Reason
			if seen.Silence != nil {
				reason = seen.Silence.Reason
			}
			fleettest.Same(t, "reason", tc.silence, reason)
			seen.Silence = nil
			fleettest.Same(t, "vpas", VPAs{Known: reason == "", Objects: tc.objects}, seen)
		})
	}
}

// A member may have very many, of which the list is read in pages, and little is kept.
func TestManyVPAs(t *testing.T) {
	const pageSize = 500
	pages, most := 200, 700.0 // bytes of one
	if testing.Short() {
		pages = 20
	}
	s := newServer(t, "v2")
	for page := range pages {
		key, next := "GET "+vpaPath, fmt.Sprint("page", page+1)
		if page > 0 {
			key += fmt.Sprint(" page", page)
		}
		if page == pages-1 {
			next = ""
		}
		items := make([]string, pageSize)
		for i := range items {
			items[i] = verticalItem(fmt.Sprintf("vpa-%06d", page*pageSize+i), "{"+onWeb+"}")
		}
		s.Says(key, 200, verticalList(next, items...))
	}
	s.Says("GET "+vpaPath+" watch", 200, "")
	c := s.join(t)
	before := heaptest.InUse()
	seen := c.VPAs(t.Context(), "shop")
	cost := float64(heaptest.InUse()-before) / float64(pages*pageSize)
	if seen.Silence != nil || len(seen.Objects) != pages*pageSize {
		t.Fatalf("%d VPAs, %v; want %d", len(seen.Objects), seen.Silence, pages*pageSize)
	}
	fleettest.Same(t, "the last one", keptVertical(fmt.Sprintf("vpa-%06d", pages*pageSize-1), "", web), seen.Objects[pages*pageSize-1])
	for _, request := range s.Heard() {
		if !strings.Contains(request, "limit=500") && !strings.Contains(request, "watch=true") {
			t.Errorf("a list not in pages: %s", request)
		}
	}
	if cost > most {
		t.Errorf("each costs %.0f bytes, want %.0f at most", cost, most)
	}
	runtime.KeepAlive(s)
}

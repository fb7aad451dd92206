// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

const sizesObject = sizesPath + "/fleetscale"

// applied is the request that has a manager own these entries.
func applied(t *testing.T, manager string, entries ...v1alpha1.SizedWorkload) string {
	t.Helper()
	body := `{"apiVersion":"fleetscale.io/v1alpha1","kind":"PodSizes","metadata":{"name":"fleetscale","namespace":"shop"}`
	if entries != nil {
		list, err := json.Marshal(entries)
		if err != nil {
			t.Fatal(err)
		}
		body += `,"workloads":` + string(list)
	}
	return "PATCH " + sizesObject + "?fieldManager=" + url.QueryEscape(manager) + "&force=false\napplication/apply-patch+yaml\n" + body + "}"
}

func TestSetPodSizes(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	s.Says("PATCH "+sizesObject, 200, podSizes("fleetscale", entry("web"), entry("other")))
	c := s.join(t)
	fleettest.Same(t, "error", "", memberstest.Told(c.SetPodSizes(t.Context(), "shop", "uid-of-web", entry("web"))))
	fleettest.Same(t, "requests", []string{applied(t, "fleetscale-sizes.uid-of-web", entry("web"))}, s.Heard())
}

// What others have added to an entry is not passed over: it would be written again and again.
func TestSetPodSizesOfTwoWriters(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*v1alpha1.SizedWorkload){
		"a container": func(e *v1alpha1.SizedWorkload) {
			e.Containers = append(e.Containers, v1alpha1.SizedContainer{Name: "theirs", Requests: map[string]string{"cpu": "1m"}})
		},
		"a label":          func(e *v1alpha1.SizedWorkload) { e.MatchLabels["tier"] = "x" },
		"the entry itself": func(e *v1alpha1.SizedWorkload) { e.Name = "other" },
	} {
		stored := entry("web")
		change(&stored)
		s := newServer(t, "v2")
		s.Says("PATCH "+sizesObject, 200, podSizes("fleetscale", stored))
		var refused *Refused
		if err := s.join(t).SetPodSizes(t.Context(), "shop", "uid-of-web", entry("web")); !errors.As(err, &refused) ||
			refused.Why != RefusedTaken {
			t.Errorf("%s: %v, want %s", name, err, RefusedTaken)
		}
	}
}

// Two hubs may have a MultidimPodAutoscaler of one name: the second is told that the entry is taken, as it does not force.
func TestManagersOfSizes(t *testing.T) {
	const uid = "f2d7a1e4-6a3b-4a55-9f0e-000000000000"
	ours, theirs := sizesManagerOf(uid+"1"), sizesManagerOf(uid+"2")
	if ours == theirs || len(ours) > 128 {
		t.Errorf("managers %q and %q, of at most %d characters", ours, theirs, len(ours))
	}
}

func TestSetPodSizesIsRefused(t *testing.T) {
	tests := map[string]struct {
		answer answer
		why    Refusal
		err    string
	}{
		"one too many": {answer{422, memberstest.Status(422, "Invalid",
			`{"causes":[{"reason":"FieldValueTooMany","message":"Too many: 201: must have at most 200 items","field":"workloads"}]}`)},
			RefusedTooMany, ""},
		"too many containers": {answer{422, memberstest.Status(422, "Invalid",
			`{"causes":[{"reason":"FieldValueTooMany","field":"workloads[0].containers"}]}`)}, RefusedInvalid, ""},
		"somebody else's": {answer{409, memberstest.Status(409, "Conflict",
			`{"causes":[{"reason":"FieldManagerConflict","field":".workloads"}]}`)}, RefusedTaken, ""},
		"not served": {answer{404, "404 page not found\n"}, RefusedUnserved, ""},
		"no right": {answer{403, memberstest.StatusSaying(403, "Forbidden", `User "u" cannot patch resource "podsizes"`, "")}, RefusedRight,
			`our identity lacks the right to patch podsizes: User "u" cannot patch resource "podsizes"`},
		"no namespace": {answer{404, memberstest.Status(404, "NotFound", `{"name":"shop","kind":"namespaces"}`)}, "",
			`namespace "shop" does not exist in the cluster; create it there`},
		"something else": {answer{200, `{"kind":"Deployment"}`}, "", "silence: BadAnswer"},
		"it failed":      {answer{500, memberstest.Status(500, "InternalError", "")}, "", "the cluster says InternalError"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, "v2")
			s.Says("PATCH "+sizesObject, tc.answer.code, tc.answer.body)
			err := s.join(t).SetPodSizes(t.Context(), "shop", "uid-of-web", entry("web"))
			var r *Refused
			if !errors.As(err, &r) {
				r = &Refused{}
			}
			fleettest.Same(t, "why", tc.why, r.Why)
			if text := memberstest.Told(err); err == nil || !strings.HasSuffix(text, tc.err) {
				t.Errorf("error = %s, want %s", text, tc.err)
			}
			fleettest.Same(t, "how often it is asked", 1, len(s.Heard()))
		})
	}
}

func TestRemovePodSizes(t *testing.T) {
	read := "GET " + sizesObject
	without := applied(t, "fleetscale-sizes.uid-of-web")
	removed := "DELETE " + sizesObject + "\napplication/json\n" +
		`{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u","resourceVersion":"5"}}`
	ok := answer{200, podSizes("fleetscale")}
	gone, conflict := answer{404, memberstest.Status(404, "NotFound", "")}, answer{409, memberstest.Status(409, "Conflict", "")}
	forbidden := answer{403, memberstest.StatusSaying(403, "Forbidden", `User "u" cannot delete resource "podsizes"`, "")}
	failed := answer{500, memberstest.Status(500, "InternalError", "")}
	const taken = `removing the sizes of Pods of "web": somebody else has written to them too: delete the entry there`
	const failure = `removing the sizes of Pods of "web": the cluster says InternalError`
	tests := map[string]struct {
		read, apply, remove answer
		requests            []string
		err                 string
	}{
		"others are there": {ok, answer{200, podSizes("fleetscale", entry("other"))}, ok, []string{read, without}, ""},
		"it was the last":  {ok, ok, ok, []string{read, without, removed}, ""},
		"none":             {gone, ok, ok, []string{read}, ""},
		"not served":       {answer{404, "404 page not found\n"}, ok, ok, []string{read}, ""},
		"another comes":    {ok, ok, conflict, []string{read, without, removed}, ""},
		"somebody removes": {ok, ok, gone, []string{read, without, removed}, ""},
		"somebody owns it": {ok, answer{200, podSizes("fleetscale", entry("web"))}, ok, []string{read, without},
			taken},
		"somebody owns a part": {ok, answer{422, memberstest.Status(422, "Invalid", `{"causes":[{"field":"workloads[0].matchLabels"}]}`)}, ok,
			[]string{read, without}, taken},
		"forbidden": {ok, ok, forbidden, []string{read, without, removed},
			`removing the sizes of Pods of "web": our identity lacks the right to delete podsizes: User "u" cannot delete resource "podsizes"`},
		"cannot be read":    {failed, ok, ok, []string{read}, failure},
		"cannot be written": {ok, failed, ok, []string{read, without}, failure},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, "v2")
			s.Says("GET "+sizesObject, tc.read.code, tc.read.body)
			s.Says("PATCH "+sizesObject, tc.apply.code, tc.apply.body)
			s.Says("DELETE "+sizesObject, tc.remove.code, tc.remove.body)
			fleettest.Same(t, "error", tc.err, memberstest.Told(s.join(t).RemovePodSizes(t.Context(), "shop", "uid-of-web", "web")))
			fleettest.Same(t, "requests", tc.requests, s.Heard())
		})
	}
}

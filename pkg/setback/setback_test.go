// SPDX-License-Identifier: Apache-2.0

package setback

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// Each step is a reconcile, 15 s after the last one: what is found, and then what is written; the spec's generation where it changes.
func TestSetBack(t *testing.T) {
	type step struct {
		found, written int32 // 0: nothing is
		generation     int64
		later          time.Duration
	}
	undone := step{found: 4, written: 8}
	tests := map[string]struct {
		steps  []step
		paused time.Duration
	}{
		"nothing was written":      {[]step{{found: 4}, {found: 6}}, 0},
		"undone once":              {[]step{undone, {found: 4}}, 0},
		"undone twice":             {[]step{undone, undone, {found: 4}}, 0},
		"undone three times":       {[]step{undone, undone, undone, {found: 4}}, 5 * time.Minute},
		"undone after a while":     {[]step{undone, undone, undone, {found: 8, later: 4 * time.Minute}, {found: 4}}, 5 * time.Minute},
		"undone when it had stood": {[]step{undone, undone, undone, {found: 8, later: 5 * time.Minute}, {found: 4}}, 0},
		"it stood once": {[]step{undone, undone,
			{found: 4, written: 8}, {found: 8, later: 6 * time.Minute}, undone, {found: 4}}, 0},
		"set to something else":    {[]step{undone, undone, undone, {found: 5}}, 0},
		"and paused, the replicas": {[]step{undone, undone, undone, {found: 4}, {found: 5}}, 0},
		"and paused, the spec":     {[]step{undone, undone, undone, {found: 4}, {found: 4, generation: 2}}, 0},
		"still paused":             {[]step{undone, undone, undone, {found: 4}, {found: 4, later: 4 * time.Minute}}, 45 * time.Second},
		"the pause is over":        {[]step{undone, undone, undone, {found: 4}, {found: 4, later: 5 * time.Minute}}, 0},
		"undone again after it": {[]step{undone, undone, undone, {found: 4},
			{found: 4, written: 8, later: 5 * time.Minute}, {found: 4}}, 10 * time.Minute},
		"it moves by itself, back and forth": {[]step{{found: 4, written: 8}, {found: 8, written: 4},
			{found: 4, written: 8}, {found: 8, written: 4}, {found: 4}}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			now, generation := time.Unix(0, 0), int64(1)
			var f Record[int32]
			for _, s := range tc.steps {
				now = now.Add(s.later)
				generation = max(generation, s.generation)
				f = f.Sees(s.found, generation, now)
				if s.written != 0 {
					if f.Paused(now) {
						t.Errorf("paused at %v", now)
					}
					f = f.Writes(s.found, s.written, generation, now)
				}
				now = now.Add(15 * time.Second)
			}
			fleettest.Same(t, "paused for", tc.paused, max(0, f.Until.Sub(now.Add(-15*time.Second))))
		})
	}
}

// The pauses grow, and no further than an hour.
func TestPausesGrow(t *testing.T) {
	now := time.Unix(0, 0)
	var f Record[int32]
	var pauses []time.Duration
	for len(pauses) < 6 {
		f = f.Sees(4, 1, now)
		if f.Paused(now) {
			pauses = append(pauses, f.Until.Sub(now))
			now = f.Until
			continue
		}
		f = f.Writes(4, 8, 1, now)
		now = now.Add(15 * time.Second)
	}
	const m = time.Minute
	fleettest.Same(t, "pauses", []time.Duration{5 * m, 10 * m, 20 * m, 40 * m, 60 * m, 60 * m}, pauses)
}

func TestWhoSetReplicas(t *testing.T) {
	entry := func(manager, owned string, at int64) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: metav1.NewFieldsV1(owned), Time: &metav1.Time{Time: time.Unix(at, 0)}}
	}
	const replicas, image = `{"f:spec":{"f:replicas":{}}}`, `{"f:spec":{"f:template":{}}}`
	tests := map[string]struct {
		entries []metav1.ManagedFieldsEntry
		want    string
	}{
		"nobody": {nil, ""},
		"us":     {[]metav1.ManagedFieldsEntry{entry("ours", replicas, 1)}, ""},
		"another": {[]metav1.ManagedFieldsEntry{entry("ours", replicas, 3), entry("karmada", replicas, 2),
			entry("kubectl", image, 4)}, "karmada"},
		"the last":           {[]metav1.ManagedFieldsEntry{entry("flux", replicas, 3), entry("karmada", replicas, 2)}, "flux"},
		"what is unreadable": {[]metav1.ManagedFieldsEntry{entry("flux", "{", 3), {Manager: "none"}}, ""},
	}
	for name, tc := range tests {
		if got := WhoSet(tc.entries, "ours", "image", "replicas"); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

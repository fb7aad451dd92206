// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// Each API can be left out, for a hub that has another server for it. The
// others are served as ever.
func TestAPIsAreLeftOut(t *testing.T) {
	e := whole(t)
	paths := map[string]string{
		"metrics.k8s.io":          shopPath,
		"custom.metrics.k8s.io":   serviceMetric(presence),
		"external.metrics.k8s.io": externalMetric(presence),
	}
	adapters := map[string]*fixture.Adapter{}
	for left := range paths {
		var kept []string
		for group := range paths {
			if group != left {
				kept = append(kept, group)
			}
		}
		a, err := e.NewAdapter(t.Context(), e.Hub(), "adapter-without-"+strings.TrimSuffix(left, ".k8s.io"),
			append(adapterFlags(), "--apis="+strings.Join(kept, ","))...)
		if err != nil {
			t.Fatal(err)
		}
		adapters[left] = a
	}
	group, ctx := errgroup.WithContext(t.Context())
	for _, a := range adapters {
		group.Go(func() error { return a.Launch(ctx) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for left, a := range adapters {
		t.Cleanup(func() { _ = a.Stop() })
		for group, path := range paths {
			want := http.StatusOK
			if group == left {
				want = http.StatusNotFound
			}
			hearsFrom(t, directly(t, a), "without "+left+": "+path, path, func(v told) error {
				if v.Code == want {
					return nil
				}
				return refuses(want)(v)
			})
		}
		if got := groupsOf(t, a); slices.Contains(got, left) || len(got) != 2 {
			t.Errorf("without %s there are the groups %v", left, got)
		}
	}
}

// groupsOf are the API groups for metrics that an adapter lists.
func groupsOf(t *testing.T, a *fixture.Adapter) []string {
	t.Helper()
	got, err := raw(t.Context(), directly(t, a), "/apis", "")
	if err != nil {
		t.Fatal(err)
	}
	var list metav1.APIGroupList
	if err := json.Unmarshal(got.Body, &list); err != nil {
		t.Fatalf("reading %s: %v", got.Body, err)
	}
	var groups []string
	for _, group := range list.Groups {
		if strings.HasSuffix(group.Name, "metrics.k8s.io") {
			groups = append(groups, group.Name)
		}
	}
	return groups
}

// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

const sizesPath = "/apis/fleetscale.io/v1alpha1/namespaces/shop/podsizes"

// entry is the sizes of one workload.
func entry(name string) v1alpha1.SizedWorkload {
	return v1alpha1.SizedWorkload{
		Name: name, MatchLabels: map[string]string{"app": name},
		Containers: []v1alpha1.SizedContainer{{Name: "app", Requests: map[string]string{"cpu": "627m"}}},
	}
}

// podSizes is what a cluster says of them.
func podSizes(name string, entries ...v1alpha1.SizedWorkload) string {
	text, err := json.Marshal(&v1alpha1.PodSizes{
		TypeMeta: metav1.TypeMeta{APIVersion: "fleetscale.io/v1alpha1", Kind: "PodSizes"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "u", ResourceVersion: "5", Generation: 7,
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}},
		Workloads: entries,
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func podSizesList(items ...string) string {
	return `{"kind":"PodSizesList","apiVersion":"fleetscale.io/v1alpha1","metadata":{"resourceVersion":"5"},"items":[` +
		strings.Join(items, ",") + `]}`
}

func TestPodSizesAreWatched(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	s.Says("GET "+sizesPath, 200, podSizesList(podSizes("fleetscale", entry("b"), entry("a")), podSizes("other", entry("c"))))
	s.Says("GET "+sizesPath+" watch", 200, "")
	c := s.join(t)
	seen := c.PodSizes(t.Context(), "shop")
	fleettest.Same(t, "sizes", PodSizes{Workloads: []v1alpha1.SizedWorkload{entry("b"), entry("a")}, Generation: 7, Known: true}, seen)
	fleettest.Same(t, "one of them", new(entry("a")), seen.Find("a"))
	fleettest.Same(t, "one of another object", (*v1alpha1.SizedWorkload)(nil), seen.Find("c"))
}

func TestPodSizesOfOthers(t *testing.T) {
	tests := map[string]struct {
		answer  answer
		silence fleet.Reason
	}{
		"not served":     {answer{404, "404 page not found\n"}, ""},
		"none":           {answer{200, podSizesList()}, ""},
		"only others":    {answer{200, podSizesList(podSizes("other", entry("a")))}, ""},
		"forbidden":      {answer{403, memberstest.Status(403, "Forbidden", "")}, fleet.ReasonForbidden},
		"something else": {answer{200, listOfOthers}, fleet.ReasonBadAnswer},
		"workloads of no kind": {answer{200, podSizesList(`{"metadata":{"name":"fleetscale"},"workloads":[{"matchLabels":7}]}`)},
			fleet.ReasonBadAnswer},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, "v2")
			s.Says("GET "+sizesPath, tc.answer.code, tc.answer.body)
			s.Says("GET "+sizesPath+" watch", 200, "")
			seen := s.join(t).PodSizes(t.Context(), "shop")
			var reason fleet.Reason
			if seen.Silence != nil {
				reason = seen.Silence.Reason
			}
			fleettest.Same(t, "reason", tc.silence, reason)
			seen.Silence = nil
			fleettest.Same(t, "sizes", PodSizes{Known: reason == ""}, seen)
		})
	}
}

// Of a cluster whose API server does not do as the kind says, no more is kept than of others.
func TestPodSizesAreBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<10)
	spoil := func(f func(*v1alpha1.SizedWorkload)) v1alpha1.SizedWorkload { w := entry("bad"); f(&w); return w }
	many := map[string]string{}
	var containers []v1alpha1.SizedContainer
	for i := range 100 {
		many[fmt.Sprint("k", i)] = "v"
		containers = append(containers, v1alpha1.SizedContainer{Name: fmt.Sprint("c", i)})
	}
	for name, bad := range map[string]v1alpha1.SizedWorkload{
		"name":         spoil(func(w *v1alpha1.SizedWorkload) { w.Name = long }),
		"labels":       spoil(func(w *v1alpha1.SizedWorkload) { w.MatchLabels = many }),
		"label":        spoil(func(w *v1alpha1.SizedWorkload) { w.MatchLabels = map[string]string{"app": long} }),
		"label's key":  spoil(func(w *v1alpha1.SizedWorkload) { w.MatchLabels = map[string]string{long: "app"} }),
		"containers":   spoil(func(w *v1alpha1.SizedWorkload) { w.Containers = containers }),
		"container":    spoil(func(w *v1alpha1.SizedWorkload) { w.Containers[0].Name = long }),
		"requests":     spoil(func(w *v1alpha1.SizedWorkload) { w.Containers[0].Requests = many }),
		"limits":       spoil(func(w *v1alpha1.SizedWorkload) { w.Containers[0].Limits = many }),
		"request":      spoil(func(w *v1alpha1.SizedWorkload) { w.Containers[0].Requests["cpu"] = "1e-2147483648" }),
		"limit":        spoil(func(w *v1alpha1.SizedWorkload) { w.Containers[0].Limits = map[string]string{"memory": "1e9999999"} }),
		"endless text": spoil(func(w *v1alpha1.SizedWorkload) { w.Containers[0].Requests["cpu"] = strings.Repeat("1", 1<<20) }),
	} {
		kept := podSizesRecordOf(&v1alpha1.PodSizes{ObjectMeta: metav1.ObjectMeta{Name: "fleetscale"},
			Workloads: []v1alpha1.SizedWorkload{entry("a"), bad, entry("b")}})
		fleettest.Same(t, "of sizes with a bad "+name, []v1alpha1.SizedWorkload{entry("a"), entry("b")}, kept.Workloads)
	}
	var all []v1alpha1.SizedWorkload
	for i := range 1000 {
		all = append(all, entry(fmt.Sprint("w", i)))
	}
	kept := podSizesRecordOf(&v1alpha1.PodSizes{ObjectMeta: metav1.ObjectMeta{Name: "fleetscale"}, Workloads: all})
	fleettest.Same(t, "of very many", all[:v1alpha1.MostSizedWorkloads], kept.Workloads)
}

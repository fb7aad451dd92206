// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

// Of all that bear an owner's label, those are listed that name the hub as the one to remove them.
// Where some namespaces are in scope, no others are listed, and one that cannot be is an error.
func TestMadeByInSomeNamespaces(t *testing.T) {
	t.Parallel()
	const pay = "/apis/autoscaling/v2/namespaces/pay/horizontalpodautoscalers"
	const shop = "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers"
	mine := strings.Replace(item("mine", ours), `"a":"b"`, `"a":"b","fleetscale.io/removed-by":"us"`, 1)
	s := newServer(t, "v2")
	s.Says("GET "+pay, 200, list("v2", "", mine)) // of shop, which was not asked for
	s.Says("GET "+shop, 200, list("v2", "", mine))
	c := s.join(t, "shop", "pay")
	found, err := c.MadeBy(t.Context(), "us")
	if err != nil || len(found) != 1 || found[0].Namespace != "shop" {
		t.Errorf("found %v, %v; want shop/mine", found, err)
	}
	fleettest.Same(t, "requests", []string{"GET " + pay + "?labelSelector=fleetscale.io%2Fmanaged-by&limit=500",
		"GET " + shop + "?labelSelector=fleetscale.io%2Fmanaged-by&limit=500"}, s.Heard())
	s.Says("GET "+shop, 403, memberstest.Status(403, "Forbidden", ""))
	if found, err := c.MadeBy(t.Context(), "us"); err == nil || found != nil {
		t.Errorf("a list that is forbidden: %v, %v", found, err)
	}
}

func TestMadeBy(t *testing.T) {
	t.Parallel()
	const all = "/apis/autoscaling/v2/horizontalpodautoscalers"
	by := func(name, hub, label string) string {
		return strings.Replace(item(name, label), `"a":"b"`, `"a":"b","fleetscale.io/removed-by":"`+hub+`"`, 1)
	}
	s := newServer(t, "v2")
	s.Says("GET "+all, 200, list("v2", "next", by("mine", "us", ours)+","+by("theirs", "them", ours)+","+item("unsaid", ours)))
	s.Says("GET "+all+" next", 200, list("v2", "", by("stays", "", ours)+","+by("free", "us", "")+","+by("more", "us", ours)))
	c := s.join(t)
	for hub, want := range map[string]string{"us": "shop/mine shop/more", "them": "shop/theirs", "": ""} {
		found, err := c.MadeBy(t.Context(), hub)
		var names []string
		for _, hpa := range found {
			names = append(names, hpa.Namespace+"/"+hpa.Name)
		}
		fleettest.Same(t, "error", "", memberstest.Told(err))
		fleettest.Same(t, "made by "+hub, want, strings.Join(names, " "))
		fleettest.Same(t, "requests", []string{"GET " + all + "?labelSelector=fleetscale.io%2Fmanaged-by&limit=500",
			"GET " + all + "?continue=next&labelSelector=fleetscale.io%2Fmanaged-by&limit=500"}, s.Heard())
	}
	s.Says("GET "+all, 403, memberstest.Status(403, "Forbidden", ""))
	if found, err := c.MadeBy(t.Context(), "us"); err == nil || found != nil {
		t.Errorf("a list that is forbidden: %v, %v", found, err)
	}
}

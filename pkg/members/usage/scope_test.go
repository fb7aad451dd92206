// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

func scopeOf(t *testing.T, names ...string) tenancy.Scope {
	t.Helper()
	scope, err := tenancy.NewScope(names)
	if err != nil {
		t.Fatal(err)
	}
	return scope
}

// Where some namespaces are in scope, all of them is a request for each, and its answer is the same as one for all would be of those.
func TestAllInSomeNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := slices.Concat(pods("zoo", 1), pods("shop", 3), pods("other", 2), pods("bank", 2))
		east, west := newFakeMember("east", all...), newFakeMember("west", all...)
		west.Handle = func(r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.Path, "/namespaces/shop/") {
				return refuse(403)(r)
			}
			return west.list(r)
		}
		f := startScoped(t, scopeOf(t, "shop", "zoo", "bank", "empty"), 1<<30, 8, east, west)
		synctest.Wait()
		answer := f.Pods(t.Context(), inNamespace(""))
		want := []string{"east/bank/web-0", "east/bank/web-1", "east/shop/web-0", "east/shop/web-1", "east/shop/web-2", "east/zoo/web-0"}
		fleettest.Same(t, "pods", want, names(answer))
		if why := answer.Silent["west"]; why == nil || why.Reason != fleet.ReasonForbidden {
			t.Errorf("west, which refuses one of the namespaces: %v", answer.Silent)
		}
		for i := range answer.Values["east"].Len() {
			for name, used := range answer.Values["east"].At(i).Containers() {
				list := used.list()
				if nano := list.Cpu().ScaledValue(-9); (name == "app") != (nano == 123456789) {
					t.Errorf("pod %d: container %s used %d", i, name, nano)
				}
			}
		}
		var asked []string
		for _, namespace := range []string{"bank", "empty", "shop", "zoo"} {
			asked = append(asked, "/apis/metrics.k8s.io/v1beta1/namespaces/"+namespace+"/pods")
		}
		got := east.queries()
		slices.Sort(got)
		fleettest.Same(t, "requests", asked, got)
	})
}

// However many namespaces are hot, no list of all takes the place of theirs.
func TestManyOfSomeNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hot = 20
		var inScope []string
		for i := range hot {
			inScope = append(inScope, fmt.Sprintf("ns-%03d", i))
		}
		east := newFakeMember("east", manyNamespaces(hot, 3)...)
		f := startScoped(t, scopeOf(t, inScope...), 1<<30, 200, east)
		synctest.Wait()
		f.askAbout(t, hot)
		if held := f.scrapers["east"].latest.Bytes(); held > 0 {
			t.Errorf("a list of %d bytes is kept", held)
		}
		f.passAskedAbout(t, hot, 5)
		for _, query := range east.queries() {
			if !strings.Contains(query, "/namespaces/") {
				t.Errorf("the member was asked %s", query)
			}
		}
	})
}

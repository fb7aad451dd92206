// SPDX-License-Identifier: Apache-2.0

package tenancy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScope(t *testing.T) {
	many := make([]string, MostNamespaces)
	for i := range many {
		many[i] = fmt.Sprintf("shop-%02d", i)
	}
	const reserved = `nothing is scaled or sized in namespace "kube-system", nor in any other of Kubernetes or fleetscale: use another one`
	tests := map[string]struct {
		names []string
		want  string // the scope for people; or
		fault string
	}{
		"none":                   {nil, "all namespaces", ""},
		"one":                    {[]string{"shop"}, "namespace shop", ""},
		"several, in order":      {[]string{"shop", "pay"}, "namespaces pay, shop", ""},
		"as many as are allowed": {many, "namespaces shop-00, shop-01, shop-02, shop-03, shop-04 and 59 more", ""},
		"too many": {slices.Concat(many, []string{"z"}), "",
			"names 65 namespaces, of which each is watched by itself: at most 64"},
		"the same twice":            {[]string{"shop", "pay", "shop"}, "", `names "shop" more than once`},
		"one without a name":        {[]string{"shop", ""}, "", `"" is no name of a namespace: a lowercase RFC 1123 label must`},
		"no label":                  {[]string{"Shop"}, "", `"Shop" is no name of a namespace: a lowercase RFC 1123 label must`},
		"a pattern":                 {[]string{"shop-*"}, "", `"shop-*" is no name of a namespace: a lowercase RFC 1123 label must`},
		"one of Kubernetes":         {[]string{"kube-system"}, "", reserved},
		"one of ours":               {[]string{"fleetscale-system"}, "", `nothing is scaled or sized in namespace "fleetscale-system"`},
		"every fault in one answer": {[]string{"a", "a", "B"}, "", "1123 label"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := NewScope(tc.names)
			switch {
			case tc.fault != "" && (err == nil || !strings.Contains(err.Error(), tc.fault)):
				t.Errorf("error %v, want %s", err, tc.fault)
			case tc.fault == "" && (err != nil || s.String() != tc.want):
				t.Errorf("%s, %v; want %s", s, err, tc.want)
			}
		})
	}
	if _, err := NewScope([]string{"a", "a", "B"}); strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("error %v, want two faults", err)
	}
}

// What is in scope is what was named, and where nothing was, everything.
func TestScopeHas(t *testing.T) {
	named, err := NewScope([]string{"shop", "pay"})
	if err != nil {
		t.Fatal(err)
	}
	for namespace, want := range map[string]bool{"shop": true, "pay": true, "other": false, "": false, "sho": false, "kube-system": false} {
		if got := named.Has(namespace); got != want {
			t.Errorf("%s has %q: %v, want %v", named, namespace, got, want)
		}
		if !(Scope{}).Has(namespace) {
			t.Errorf("all namespaces lack %q", namespace)
		}
	}
	if named.Everywhere() || !(Scope{}).Everywhere() {
		t.Errorf("everywhere is %v, want %v", named, Scope{})
	}
	if diff := cmp.Diff([]string{"pay", "shop"}, named.Names()); diff != "" || (Scope{}).Names() != nil {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	const want = `fleetscale acts in namespaces pay, shop only, and not in namespace "other": whoever runs it adds that to --namespaces`
	if got := named.Outside("other"); got != want {
		t.Errorf("outside: %s, want %s", got, want)
	}
}

// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestCreationOf(t *testing.T) {
	in := func(list string) map[string]string { return map[string]string{CreateInAnnotation: list} }
	with := func(list string) map[string]string { return map[string]string{CreateWithAnnotation: list} }
	const many = "annotation fleetscale.io/create-workloads-"
	tests := map[string]struct {
		annotations map[string]string
		want        Creation
		warnings    []string
	}{
		"nothing is said":    {nil, Creation{}, nil},
		"nothing is named":   {in(" , ,"), Creation{}, nil},
		"one":                {in("shop"), Creation{Namespaces: []string{"shop"}}, nil},
		"several, and again": {in("shop, blog ,shop,"), Creation{Namespaces: []string{"blog", "shop"}}, nil},
		"all":                {in("*"), Creation{Namespaces: []string{"*"}}, nil},
		"all, and one":       {in("shop,*"), Creation{Namespaces: []string{"*"}}, nil},
		"those that are never": {in("kube-system,shop,fleetscale-system"), Creation{Namespaces: []string{"shop"}}, []string{
			many + `in: what cannot be allowed is ignored: "kube-system" is a namespace of Kubernetes or fleetscale, where no workloads are created; ` +
				`"fleetscale-system" is a namespace of Kubernetes or fleetscale, where no workloads are created`}},
		"none": {in("team-*"), Creation{}, []string{many + `in: what cannot be allowed is ignored: "team-*" is not the name of a namespace; ` +
			`write names with commas between them, or only *`}},
		"many that are none": {in("a b,c d,e f,g h,shop"), Creation{Namespaces: []string{"shop"}}, []string{
			many + `in: what cannot be allowed is ignored: "a b" is not the name of a namespace; write names with commas between them, or only *; ` +
				`"c d" is not the name of a namespace; write names with commas between them, or only *; ` +
				`"e f" is not the name of a namespace; write names with commas between them, or only *; and 1 more`}},
		"too many": {in(strings.Repeat("shop,", mostNames)), Creation{}, []string{
			many + "in: it lists 1001 names and is ignored; list at most 1000"}},
		"as many as may be": {in(strings.Repeat("shop,", mostNames-1)), Creation{Namespaces: []string{"shop"}}, nil},
		"accounts":          {with("web,deployer.shop"), Creation{ServiceAccounts: []string{"deployer.shop", "web"}}, nil},
		"all accounts": {with("*"), Creation{}, []string{
			many + `with: what cannot be allowed is ignored: "*" is not the name of a ServiceAccount; write names with commas between them`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, faults := creationOf(&metav1.ObjectMeta{Annotations: tc.annotations})
			var warnings []string
			for _, f := range faults {
				if f.Reason != "InvalidCreateWorkloads" {
					t.Errorf("reason %s", f.Reason)
				}
				warnings = append(warnings, f.Message)
			}
			fleettest.Same(t, "", tc.want, got)
			fleettest.Same(t, "warnings", tc.warnings, warnings)
		})
	}
}

func TestCreation(t *testing.T) {
	all, one := Creation{Namespaces: []string{"*"}}, Creation{Namespaces: []string{"blog", "shop"}, ServiceAccounts: []string{"web"}}
	for namespace, want := range map[string][3]bool{
		"shop": {false, true, true}, "blog": {false, true, true}, "other": {false, false, true}, "*": {false, false, true},
		"kube-system": {}, "kube-public": {}, "kube-node-lease": {}, "fleetscale-member": {},
	} {
		if got := [3]bool{Creation{}.In(namespace), one.In(namespace), all.In(namespace)}; got != want {
			t.Errorf("in %q: nothing named, two named, all: %v, want %v", namespace, got, want)
		}
	}
	if (Creation{Namespaces: []string{"kube-system", "*"}}).In("kube-system") { // however it came there
		t.Error("a workload may be created in kube-system")
	}
	for account, want := range map[string][2]bool{"": {true, true}, "default": {true, true}, "web": {false, true}, "admin": {}} {
		if got := [2]bool{all.With(account), one.With(account)}; got != want {
			t.Errorf("with %q: none named, one named: %v, want %v", account, got, want)
		}
	}
}

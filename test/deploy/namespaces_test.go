// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

// Where the programs act in some namespaces only, what they may do everywhere is about what has no namespace. docs/security.md lists it.
func TestLittleIsGrantedEverywhere(t *testing.T) {
	asks := "ClusterRole system:auth-delegator"
	tests := map[string][]string{
		withNamespaces: {
			"metrics-adapter: " + asks, "metrics-adapter: ClusterRole fleetscale-metrics-adapter",
			"metrics-adapter: ClusterRole fleetscale-metrics-adapter-self-signed",
			"controller-manager: " + asks,
			"webhook: " + asks, "webhook: ClusterRole fleetscale-webhook-self-signed",
		},
		"member-namespaced/read":         nil,
		"member-namespaced/read/rights":  nil,
		"member-namespaced/write":        nil,
		"member-namespaced/write/rights": nil,
		"member-namespaced/sizes":        {"fleetscale-write: ClusterRole fleetscale-sizes"},
		"member-namespaced/sizes/rights": nil,
	}
	for dir, want := range tests {
		var got []string
		for _, object := range build(t, dir) {
			if o, ok := object.(*rbacv1.ClusterRoleBinding); ok {
				for _, s := range o.Subjects {
					got = append(got, s.Name+": "+o.RoleRef.Kind+" "+o.RoleRef.Name)
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("what %s grants everywhere (-want +got):\n%s", dir, diff)
		}
		for _, role := range roles(t, dir) {
			for _, rule := range role.rules {
				if role.kind == "ClusterRole" && strings.HasPrefix(role.name, "fleetscale-") && !isForPeople(role.name) &&
					len(rule.ResourceNames) == 0 {
					t.Errorf("%s: ClusterRole %s allows %v of any name", dir, role.name, rule)
				}
			}
		}
	}
}

// isForPeople is true of roles that no program of ours has.
func isForPeople(role string) bool {
	return slices.Contains([]string{
		"fleetscale-metrics-reader", "fleetscale-members-reader", "fleetscale-history-reader", "fleetscale-metrics-scraper",
	}, role)
}

// What is granted in namespaces is what is granted everywhere else, less what is about kinds that have no namespace.
func TestNamespacesGrantTheSame(t *testing.T) {
	tests := map[string]struct {
		everywhere, role, namespaces string
		less                         map[string]string // rules, by what is left of them; empty: nothing
	}{
		"controller-manager": {"overlays/standalone", "fleetscale-controller-manager", withNamespaces, map[string]string{
			"get namespaces of core named kube-system": "",
		}},
		"webhook": {"overlays/standalone", "fleetscale-webhook", withNamespaces, map[string]string{
			"create subjectaccessreviews of authorization.k8s.io": "",
		}},
		"the member's reader": {"member", "fleetscale-read", "member-namespaced/read/rights", map[string]string{
			"get namespaces of core named kube-system": "",
			"get,list pods,nodes of metrics.k8s.io":    "list pods of metrics.k8s.io",
		}},
		"the member's writer": {"member-write", "fleetscale-write", "member-namespaced/write/rights", map[string]string{
			"get namespaces of core named kube-system":            "",
			"list,watch nodes,resourcequotas,limitranges of core": "list,watch resourcequotas,limitranges of core",
		}},
		"sizes": {"member-sizes", "fleetscale-sizes", "member-namespaced/sizes/rights", map[string]string{
			"get mutatingadmissionpolicies,mutatingadmissionpolicybindings of admissionregistration.k8s.io named sizes.fleetscale.io": "",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var want []string
			for _, line := range linesOf(t, tc.everywhere, "ClusterRole "+tc.role+": ") {
				if less, found := tc.less[line]; found {
					line = less
				}
				if line != "" {
					want = append(want, line)
				}
			}
			places := []string{""}
			if tc.namespaces == withNamespaces {
				places = []string{"shop/", "pay/"}
			}
			for _, place := range places {
				if diff := gocmp.Diff(want, linesOf(t, tc.namespaces, "Role "+place+tc.role+": ")); diff != "" || len(want) == 0 {
					t.Errorf("rules in %q (-everywhere +there):\n%s", place, diff)
				}
			}
		})
	}
}

// linesOf are the rules of a role, as [rights] tells them.
func linesOf(t *testing.T, dir, of string) (all []string) {
	t.Helper()
	for _, line := range rights(t, dir) {
		if rule, found := strings.CutPrefix(line, of); found {
			all = append(all, rule)
		}
	}
	return all
}

// All three programs are told the namespaces, and each of these has the rights.
func TestNamespacesOfPrograms(t *testing.T) {
	for _, d := range deployments(t, withNamespaces) {
		if args := d.Spec.Template.Spec.Containers[0].Args; !slices.Contains(args, "--namespaces=shop,pay") {
			t.Errorf("arguments of %s: %q", d.Name, args)
		}
	}
}

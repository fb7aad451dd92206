// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// role is a Role or a ClusterRole.
type role struct {
	kind, namespace, name string
	rules                 []rbacv1.PolicyRule
}

func roles(t *testing.T, dir string) []role {
	t.Helper()
	var all []role
	for _, object := range build(t, dir) {
		switch o := object.(type) {
		case *rbacv1.ClusterRole:
			all = append(all, role{"ClusterRole", "", o.Name, o.Rules})
		case *rbacv1.Role:
			all = append(all, role{"Role", o.Namespace, o.Name, o.Rules})
		}
	}
	return all
}

// A wildcard grants what nobody thought of. Two are left: whatever can be
// scaled, and metrics, each of which is a resource of its own.
func TestWildcards(t *testing.T) {
	allowed := func(r rbacv1.PolicyRule) bool {
		switch {
		case slices.Equal(r.Resources, []string{"*/scale"}):
			return slices.Equal(r.APIGroups, []string{"*"}) &&
				(slices.Equal(r.Verbs, []string{"get", "update"}) || slices.Equal(r.Verbs, []string{"get"}))
		case slices.Equal(r.APIGroups, []string{"custom.metrics.k8s.io", "external.metrics.k8s.io"}):
			return slices.Equal(r.Resources, []string{"*"}) && slices.Equal(r.Verbs, []string{"get", "list"})
		}
		return false
	}
	for _, dir := range granting() {
		for _, role := range roles(t, dir) {
			for _, rule := range role.rules {
				if strings.Contains(fmt.Sprint(rule), "*") && !allowed(rule) {
					t.Errorf("%s: %s %s has a wildcard: %v", dir, role.kind, role.name, rule)
				}
			}
		}
	}
}

// Secrets are the fleet's credentials: they are read in namespaces, by Roles.
func TestNobodyReadsAllSecrets(t *testing.T) {
	for _, dir := range granting() {
		for _, role := range roles(t, dir) {
			if role.kind != "ClusterRole" {
				continue
			}
			for _, rule := range role.rules {
				if slices.Contains(rule.Resources, "secrets") {
					t.Errorf("%s: ClusterRole %s reads Secrets: %v", dir, role.name, rule)
				}
			}
		}
	}
}

// What a controller may change on the hub: autoscalers it cares for, and
// replicas, and tokens of registrations; in a member: replicas and autoscalers, and
// its own tokens; where it is let, workloads as a
// whole, which it makes and deletes, but does not edit; of Pods, requests and
// limits, and where they run. It makes no namespaces.
func TestControllersChangeLittle(t *testing.T) {
	tests := map[string]struct {
		dir, role string
		want      []string
	}{
		"on the hub": {"overlays/standalone", "fleetscale-controller-manager", []string{
			"create federatedhpas", "patch federatedhpas", "delete federatedhpas", "patch cronfederatedhpas",
			"patch multidimpodautoscalers",
			"create multidimpodautoscalerhistories", "update multidimpodautoscalerhistories", "delete multidimpodautoscalerhistories",
			"update federatedhpas/status", "update cronfederatedhpas/status", "update multidimpodautoscalers/status", "update */scale",
			"create events", "patch events",
		}},
		"registrations": {"overlays/standalone", "controller-manager-registrations", []string{
			"patch secrets", "create events", "patch events",
		}},
		"the credentials that write": {"overlays/standalone", "controller-manager-write", []string{"patch secrets"}},
		"on Karmada":                 {"overlays/karmada/controller-manager", "fleetscale-controller-manager-placements", nil},
		"through Karmada":            {"overlays/karmada/through-hub", "fleetscale-metrics-adapter-through-hub", nil},
		"in a member": {"member-write", "fleetscale-write", []string{
			"create horizontalpodautoscalers", "patch horizontalpodautoscalers", "delete horizontalpodautoscalers",
			"update */scale",
		}},
		"workloads in a member": {"member-create", "fleetscale-create", []string{
			"create deployments", "delete deployments", "create statefulsets", "delete statefulsets",
		}},
		"to read":            {"member-write", "fleetscale-read", nil},
		"tokens in a member": {"member-write", "fleetscale-tokens", []string{"create serviceaccounts/token"}},
		"of what only reads": {"overlays/standalone", "metrics-adapter-registrations", nil},
		"in namespaces of the hub": {withNamespaces, "fleetscale-controller-manager", []string{
			"create federatedhpas", "patch federatedhpas", "delete federatedhpas", "patch cronfederatedhpas",
			"patch multidimpodautoscalers",
			"create multidimpodautoscalerhistories", "update multidimpodautoscalerhistories", "delete multidimpodautoscalerhistories",
			"update federatedhpas/status", "update cronfederatedhpas/status", "update multidimpodautoscalers/status", "update */scale",
			"create events", "patch events",
		}},
		"in namespaces of a member": {"member-namespaced/write/rights", "fleetscale-write", []string{
			"create horizontalpodautoscalers", "patch horizontalpodautoscalers", "delete horizontalpodautoscalers",
			"update */scale",
		}},
		"sizes in a member": {"member-sizes", "fleetscale-sizes", []string{
			"create podsizes", "patch podsizes", "delete podsizes", "patch pods/resize", "create pods/eviction",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			all := roles(t, tc.dir)
			at := slices.IndexFunc(all, func(r role) bool { return r.name == tc.role })
			if at < 0 {
				t.Fatalf("%s has no role %s", tc.dir, tc.role)
			}
			if diff := gocmp.Diff(tc.want, changes(all[at])); diff != "" {
				t.Errorf("%s may change (-want +got):\n%s", tc.role, diff)
			}
		})
	}
}

func changes(r role) []string {
	var all []string
	for _, rule := range r.rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				if !slices.Contains([]string{"get", "list", "watch"}, verb) {
					all = append(all, verb+" "+resource)
				}
			}
		}
	}
	return all
}

// accountsOf are the overlays with the accounts of one. What sizes is applied beside the account that writes, rights in namespaces beside
// both, and those to reach members through Karmada beside what grants the others there.
func accountsOf(dir string) []string {
	switch {
	case dir == "member-sizes", strings.HasPrefix(dir, "member-namespaced/"):
		return []string{"member-write"}
	case dir == "overlays/karmada/through-hub":
		return []string{"overlays/karmada/beside-metrics-adapter", "overlays/karmada/controller-manager"}
	}
	return []string{dir}
}

// Every binding of ours joins what is there: a role that is made beside it or
// comes with every API server, and an account that is made beside it.
func TestBindingsLeadSomewhere(t *testing.T) {
	for _, dir := range granting() {
		var known, used []string
		for _, r := range roles(t, dir) {
			known = append(known, r.kind+" "+place(r.namespace, r.name))
		}
		known = append(known, "ClusterRole system:auth-delegator", "Role kube-system/extension-apiserver-authentication-reader",
			"Group system:serviceaccounts")
		bind := func(namespace string, ref rbacv1.RoleRef, subjects []rbacv1.Subject) {
			if ref.Kind == "ClusterRole" {
				namespace = ""
			}
			used = append(used, ref.Kind+" "+place(namespace, ref.Name))
			for _, s := range subjects {
				used = append(used, s.Kind+" "+place(s.Namespace, s.Name))
			}
		}
		for _, beside := range accountsOf(dir) {
			for _, object := range build(t, beside) {
				if o, ok := object.(*corev1.ServiceAccount); ok {
					known = append(known, "ServiceAccount "+place(o.Namespace, o.Name), "Group system:serviceaccounts:"+o.Namespace)
				}
			}
		}
		for _, object := range build(t, dir) {
			switch o := object.(type) {
			case *rbacv1.ClusterRoleBinding:
				bind("", o.RoleRef, o.Subjects)
			case *rbacv1.RoleBinding:
				bind(o.Namespace, o.RoleRef, o.Subjects)
			}
		}
		for _, u := range used {
			if !slices.Contains(known, u) {
				t.Errorf("%s binds %s, which is not there", dir, u)
			}
		}
		for _, k := range known {
			// People bind the roles of readers and scrapers, of which the former are among those that every viewer has, and that to
			// create workloads, in namespaces of their choice.
			bound := strings.Contains(k, "metrics-reader") || strings.Contains(k, "members-reader") || strings.Contains(k, "history-reader") ||
				strings.Contains(k, "metrics-scraper") || k == "ClusterRole fleetscale-create"
			if strings.Contains(k, "fleetscale") && !bound && !strings.HasPrefix(k, "ServiceAccount") &&
				!strings.HasPrefix(k, "Group") && !slices.Contains(used, k) {
				t.Errorf("%s: nobody has %s", dir, k)
			}
		}
	}
}

// The adapter and the controller-manager find the same members, so they have
// the same rights to read registrations. The credentials that write are for the
// latter alone.
func TestBothProgramsReadTheSameRegistrations(t *testing.T) {
	tests := map[string][]string{
		"overlays/standalone":                     {"metrics-adapter", "controller-manager"},
		"overlays/beside-metrics-server":          {"metrics-adapter", "controller-manager"},
		"overlays/karmada/beside-metrics-adapter": {"metrics-adapter"},
		"overlays/karmada/controller-manager":     {"controller-manager"},
	}
	reads := map[string][]string{}
	for dir, programs := range tests {
		for _, program := range programs {
			for _, r := range roles(t, dir) {
				if slices.ContainsFunc(r.rules, isRegistration) && strings.Contains(r.name, program) {
					reads[dir+" "+program] = append(reads[dir+" "+program], strings.ReplaceAll(r.kind+" "+place(r.namespace, r.name), program, "PROGRAM"))
				}
			}
		}
	}
	const own, writes = "Role fleetscale-clusters/PROGRAM-registrations", "Role fleetscale-clusters-write/PROGRAM-write"
	const clusters, credentials = "ClusterRole fleetscale-PROGRAM-clusters", "Role karmada-cluster/fleetscale-PROGRAM-credentials"
	want := map[string][]string{
		"overlays/standalone metrics-adapter":                     {own},
		"overlays/standalone controller-manager":                  {own, writes},
		"overlays/beside-metrics-server metrics-adapter":          {own},
		"overlays/beside-metrics-server controller-manager":       {own, writes},
		"overlays/karmada/beside-metrics-adapter metrics-adapter": {own, clusters, credentials},
		"overlays/karmada/controller-manager controller-manager":  {own, writes, clusters, credentials},
	}
	if diff := gocmp.Diff(want, reads); diff != "" {
		t.Errorf("roles that read registrations (-want +got):\n%s", diff)
	}
}

// Of the Secrets where the programs run, each program may read those that it is given by name: they are keys of
// certificates, and on a Karmada hub the tokens of the others. One is of two: what the controller-manager keeps, and the adapter reads.
func TestKeysOfCertificatesAreForTheirOwners(t *testing.T) {
	found := 0
	for _, dir := range granting() {
		for _, r := range roles(t, dir) {
			if r.namespace != "fleetscale-system" {
				continue
			}
			for _, rule := range r.rules {
				if !slices.Contains(rule.Resources, "secrets") {
					continue
				}
				found++
				name, verbs := r.name, []string{"get", "update"}
				switch r.name {
				case "metrics-adapter-record":
					name, verbs = "record-certificate", verbs[:1]
				case "controller-manager-record":
					name = "record-certificate"
				}
				if want := []string{name}; !slices.Equal(rule.ResourceNames, want) || !slices.Equal(rule.Verbs, verbs) {
					t.Errorf("%s: Role %s may %v Secrets named %q, want %v those named %q only", dir, r.name, rule.Verbs, rule.ResourceNames, verbs, want)
				}
			}
		}
	}
	if found < 4 {
		t.Errorf("found %d rules on Secrets; are they still there?", found)
	}
}

// isRegistration finds rules that list Secrets or Clusters.
func isRegistration(r rbacv1.PolicyRule) bool {
	return slices.Contains(r.Verbs, "watch") && (slices.Contains(r.Resources, "secrets") || slices.Contains(r.Resources, "clusters"))
}

// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

var update = flag.Bool("update", false, "write testdata/rights.txt")

// What each overlay grants is written down in testdata/rights.txt, so that a
// right cannot come in unseen.
func TestRights(t *testing.T) {
	var got strings.Builder
	for _, dir := range granting() {
		fmt.Fprintf(&got, "# %s\n", dir)
		for _, line := range rights(t, dir) {
			fmt.Fprintln(&got, line)
		}
		fmt.Fprintln(&got)
	}
	const golden = "testdata/rights.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("rights (-%s +built); `go -C test test ./deploy -update` writes them down:\n%s", golden, diff)
	}
}

// rights returns for each rule where it holds and what it allows, and for each
// binding who gets which role.
func rights(t *testing.T, dir string) []string {
	var lines []string
	rules := func(kind, namespace, name string, rules []rbacv1.PolicyRule) {
		for _, r := range rules {
			line := fmt.Sprintf("%s %s: %s %s of %s", kind, place(namespace, name), strings.Join(r.Verbs, ","),
				strings.Join(r.Resources, ","), groups(r.APIGroups))
			if len(r.NonResourceURLs) > 0 {
				line = fmt.Sprintf("%s %s: %s %s", kind, place(namespace, name), strings.Join(r.Verbs, ","), strings.Join(r.NonResourceURLs, ","))
			}
			if len(r.ResourceNames) > 0 {
				line += " named " + strings.Join(r.ResourceNames, ",")
			}
			lines = append(lines, line)
		}
	}
	binds := func(namespace string, role rbacv1.RoleRef, subjects []rbacv1.Subject) {
		for _, s := range subjects {
			lines = append(lines, fmt.Sprintf("%s gets %s in %s", place(s.Namespace, s.Name), role.Name, place(namespace, "")))
		}
	}
	for _, object := range build(t, dir) {
		switch o := object.(type) {
		case *rbacv1.ClusterRole:
			rules("ClusterRole", "", o.Name, o.Rules)
		case *rbacv1.Role:
			rules("Role", o.Namespace, o.Name, o.Rules)
		case *rbacv1.ClusterRoleBinding:
			binds("", o.RoleRef, o.Subjects)
		case *rbacv1.RoleBinding:
			binds(cmp.Or(o.Namespace, "the namespace where it is applied"), o.RoleRef, o.Subjects)
		}
	}
	return lines
}

// groups writes core for the group without a name.
func groups(names []string) string {
	named := slices.Clone(names)
	for i, name := range named {
		named[i] = cmp.Or(name, "core")
	}
	return strings.Join(named, ",")
}

func place(namespace, name string) string {
	switch {
	case name == "" && namespace == "":
		return "all namespaces"
	case name == "":
		return namespace
	case namespace == "":
		return name
	}
	return namespace + "/" + name
}

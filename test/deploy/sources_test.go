// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

// Each source that is off by default has a component. With all of them both programs read all sources, and have the rights for it: if
// they did not know the same members, an autoscaler would miss the metrics of those that it scales.
func TestSourcesHaveComponents(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(root, "components", "source-*"))
	if err != nil {
		t.Fatal(err)
	}
	components := make([]string, 0, len(found))
	for _, folder := range found {
		components = append(components, strings.TrimPrefix(filepath.Base(folder), "source-"))
	}
	off := slices.DeleteFunc(registration.SourceNames(), func(name string) bool {
		return slices.Contains(registration.DefaultSources(), name)
	})
	slices.Sort(off)
	if diff := gocmp.Diff(off, components); diff != "" {
		t.Errorf("components (-sources that are off by default +in deploy/components):\n%s", diff)
	}
	all := registration.SourceNames()
	slices.Sort(all)
	for _, d := range deployments(t, withSources) {
		var want []string
		if d.Name != "webhook" {
			want = all
		}
		if diff := gocmp.Diff(want, sourcesOf(d.Spec.Template.Spec.Containers[0].Args)); diff != "" {
			t.Errorf("sources of %s (-want +got):\n%s", d.Name, diff)
		}
	}
}

// sourcesOf returns what the arguments add up to.
func sourcesOf(args []string) []string {
	var all []string
	for _, arg := range args {
		if names, found := strings.CutPrefix(arg, "--sources="); found {
			all = append(all, strings.Split(names, ",")...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// What a component grants, it grants to both programs, in single namespaces but for kinds that hold no credentials.
func TestSourcesAreGrantedToBothPrograms(t *testing.T) {
	bindings := 0
	both := func(name string, subjects []rbacv1.Subject) {
		if !strings.HasPrefix(name, "fleetscale-source-") {
			return
		}
		bindings++
		var names []string
		for _, s := range subjects {
			names = append(names, place(s.Namespace, s.Name))
		}
		if diff := gocmp.Diff([]string{"fleetscale-system/metrics-adapter", "fleetscale-system/controller-manager"}, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, object := range build(t, withSources) {
		switch o := object.(type) {
		case *rbacv1.ClusterRoleBinding:
			both(o.Name, o.Subjects)
		case *rbacv1.RoleBinding:
			both(o.Name, o.Subjects)
		}
	}
	if bindings == 0 {
		t.Error("nothing is granted")
	}
}

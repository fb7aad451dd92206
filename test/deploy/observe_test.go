// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// What observes may do all that what acts may do but what writes, on the hub and in a member. It needs no Lease, and keeps no certificate:
// neither for scrapers, nor for the adapter, which does not ask it.
func TestObservingIsReading(t *testing.T) {
	for acting, observing := range map[string]string{
		"overlays/karmada/controller-manager": observing,
		"member-write":                        "member-observe",
	} {
		t.Run(observing, func(t *testing.T) {
			want := slices.DeleteFunc(grants(t, acting), func(g grant) bool {
				return !g.reads() || strings.HasPrefix(g.resource, "leases ") || strings.HasSuffix(g.role, "/controller-manager-self-signed") ||
					strings.HasSuffix(g.role, "/controller-manager-record")
			})
			if diff := gocmp.Diff(want, grants(t, observing), gocmp.AllowUnexported(grant{})); diff != "" {
				t.Errorf("rights (-acting, but for writes +observing):\n%s", diff)
			}
		})
	}
}

// One replica observes, and says so.
func TestObserverRuns(t *testing.T) {
	all := deployments(t, observing)
	if len(all) != 1 {
		t.Fatalf("%d Deployments, want one", len(all))
	}
	spec := &all[0].Spec
	if *spec.Replicas != 1 || spec.Template.Spec.PriorityClassName != "" {
		t.Errorf("%d replicas of the priority %q", *spec.Replicas, spec.Template.Spec.PriorityClassName)
	}
	if args := spec.Template.Spec.Containers[0].Args; !slices.Contains(args, "--observe") {
		t.Errorf("arguments %v", args)
	}
	checkRestricted(t, all[0])
	checkProbes(t, all[0])
	checkReach(t, observing, all[0])
}

// grant is one verb of one resource.
type grant struct{ role, verb, resource string }

func (g grant) reads() bool { return slices.Contains([]string{"get", "list", "watch"}, g.verb) }

func grants(t *testing.T, dir string) []grant {
	t.Helper()
	var all []grant
	for _, role := range roles(t, dir) {
		for _, rule := range role.rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						all = append(all, grant{role.kind + " " + place(role.namespace, role.name), verb,
							fmt.Sprintf("%s of %s named %v", resource, group, rule.ResourceNames)})
					}
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b grant) int {
		return slices.Compare([]string{a.role, a.resource, a.verb}, []string{b.role, b.resource, b.verb})
	})
	return all
}

// SPDX-License-Identifier: Apache-2.0

package grants

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

const identity = "get namespaces kube-system in kube-system"

func TestNeeded(t *testing.T) {
	writer := []string{
		"list pods", "watch pods", "list nodes", "watch nodes", "list resourcequotas", "watch resourcequotas", "list limitranges",
		"watch limitranges", "get deployments.apps", "get statefulsets.apps", "get replicasets.apps", "get replicationcontrollers",
		"get horizontalpodautoscalers.autoscaling", "list horizontalpodautoscalers.autoscaling", "watch horizontalpodautoscalers.autoscaling",
		"create horizontalpodautoscalers.autoscaling", "patch horizontalpodautoscalers.autoscaling",
		"delete horizontalpodautoscalers.autoscaling", "get */scale.*", "update */scale.*",
		"list verticalpodautoscalers.autoscaling.k8s.io", "watch verticalpodautoscalers.autoscaling.k8s.io",
		"list verticalpodautoscalercheckpoints.autoscaling.k8s.io",
	}
	observer := slices.DeleteFunc(slices.Clone(writer), func(right string) bool {
		verb, _, _ := strings.Cut(right, " ")
		return slices.Contains([]string{"create", "patch", "delete", "update"}, verb)
	})
	var namespaced []string // of the writer, in two namespaces
	for resource, rights := range groups(writer) {
		if resource == "nodes" {
			continue
		}
		for _, in := range []string{"shop", "pay"} {
			for _, right := range rights {
				namespaced = append(namespaced, right+" in "+in)
			}
		}
	}
	slices.Sort(namespaced)
	adapter := func(namespaces ...string) func() ([]Right, error) {
		return func() ([]Right, error) { return NeededByAdapter(namespaces) }
	}
	controllers := func(observes bool, namespaces ...string) func() ([]Right, error) {
		return func() ([]Right, error) { return NeededByControllerManager(observes, namespaces) }
	}
	const token = "create serviceaccounts/token fleetscale-read in fleetscale-member"
	tokens := []string{token, strings.Replace(token, "fleetscale-read", "fleetscale-write", 1)}
	account := func(namespaces ...string) func() ([]Right, error) {
		return func() ([]Right, error) { return InMember(Writer, namespaces) }
	}
	for name, tc := range map[string]struct {
		of   func() ([]Right, error)
		want []string
	}{
		"the adapter": {adapter(), []string{
			identity, "get pods.metrics.k8s.io", "list pods.metrics.k8s.io", "get nodes.metrics.k8s.io", "list nodes.metrics.k8s.io",
			"get *.custom.metrics.k8s.io", "list *.custom.metrics.k8s.io", "get *.external.metrics.k8s.io", "list *.external.metrics.k8s.io",
		}},
		"the adapter, in a namespace": {adapter("shop"), []string{
			identity, "list pods.metrics.k8s.io in shop", "get *.custom.metrics.k8s.io in shop", "list *.custom.metrics.k8s.io in shop",
			"get *.external.metrics.k8s.io in shop", "list *.external.metrics.k8s.io in shop",
		}},
		"the account that writes":                    {account(), slices.Concat([]string{identity}, writer, tokens)},
		"the account that writes, in two namespaces": {account("shop", "pay"), slices.Concat(tokens, []string{identity}, namespaced)},
		"the controller-manager":                     {controllers(false), append([]string{identity}, writer...)},
		"the controller-manager, observing":          {controllers(true), append([]string{identity}, observer...)},
		"the controller-manager, in two namespaces":  {controllers(false, "shop", "pay"), append([]string{identity}, namespaced...)},
	} {
		t.Run(name, func(t *testing.T) {
			rights, err := tc.of()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range rights {
				got = append(got, r.String())
			}
			if strings.HasSuffix(name, "in two namespaces") { // whose order is not told here
				slices.Sort(got[slices.Index(got, identity)+1:])
			}
			fleettest.Same(t, "", tc.want, got)
		})
	}
}

// groups are rights by what they are about.
func groups(rights []string) map[string][]string {
	all := map[string][]string{}
	for _, right := range rights {
		_, resource, _ := strings.Cut(right, " ")
		all[resource] = append(all[resource], right)
	}
	return all
}

// The text of a right is never cut where it is shown, whatever the namespace.
func TestTextsOfRightsAreShort(t *testing.T) {
	namespace := []string{strings.Repeat("n", 63)}
	adapter, errs := NeededByAdapter(namespace)
	controllers, err := NeededByControllerManager(false, namespace)
	if errs != nil || err != nil {
		t.Fatal(errs, err)
	}
	for _, r := range append(adapter, controllers...) {
		if n := len(r.String()); n > MostText {
			t.Errorf("%s has %d characters, more than %d", r, n, MostText)
		}
	}
}

func TestFew(t *testing.T) {
	all := make([]string, 24)
	for i := range all {
		all[i] = fmt.Sprintf("get x%d", i)
	}
	for _, tc := range []struct {
		of   []string
		most int
		want []string
	}{
		{nil, 1, nil},
		{all[:3], 3, all[:3]},
		{all[:3], 2, []string{"get x0", "and 2 more"}},
		{all, 3, []string{"get x0", "get x1", "and 22 more"}},
		{Few(all, 8), 2, []string{"get x0", "and 23 more"}},
		{all, 1, []string{"and 24 more"}},
	} {
		got := Few(tc.of, tc.most)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%d of %q (-want +got):\n%s", tc.most, tc.of, diff)
		}
		if Count(got) != Count(tc.of) {
			t.Errorf("%q are %d, want %d", got, Count(got), Count(tc.of))
		}
	}
	for text, want := range map[string]int{"and -3 more": 1, "and more": 1, "and 0 more": 1, "get x": 1} {
		if got := Count([]string{text}); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
	if all[2] != "get x2" {
		t.Errorf("what is cut was written to: %q", all[2])
	}
}

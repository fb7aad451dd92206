// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// slice is a PlacementDecision of the namespace shop; key and index are its labels, empty: it has none. Clusters are "namespace/name", or
// only a name.
func slice(name, key, index string, clusters ...string) PlacementDecision {
	d := PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{}}}
	for label, value := range map[string]string{decisionKeyLabel: key, decisionIndexLabel: index} {
		if value != "" {
			d.Labels[label] = value
		}
	}
	for _, c := range clusters {
		namespace, name, found := strings.Cut(c, "/")
		if !found {
			namespace, name = "", c
		}
		d.Decisions = append(d.Decisions, ClusterDecision{ClusterProfile{namespace, name}})
	}
	return d
}

// inventoryHub has these PlacementDecisions, or fails.
type inventoryHub struct {
	all   []PlacementDecision
	fails error
}

func (h inventoryHub) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	for i := range h.all {
		if d := &h.all[i]; h.fails == nil && d.Namespace == key.Namespace && d.Name == key.Name {
			*object.(*PlacementDecision) = *d.DeepCopyObject().(*PlacementDecision)
			return nil
		}
	}
	if h.fails != nil {
		return h.fails
	}
	return apierrors.NewNotFound(inventory.WithResource("placementdecisions").GroupResource(), key.Name)
}

func (h inventoryHub) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	o := (&client.ListOptions{}).ApplyOptions(options)
	for i := range h.all {
		if d := &h.all[i]; d.Namespace == o.Namespace && o.LabelSelector.Matches(labels.Set(d.Labels)) {
			list.(*PlacementDecisionList).Items = append(list.(*PlacementDecisionList).Items, *d)
		}
	}
	return h.fails
}

func TestClustersOfDecisions(t *testing.T) {
	elsewhere := slice("web", "", "", "east")
	elsewhere.Namespace = "other"
	tests := map[string]struct {
		all  []PlacementDecision
		want string
		err  string
	}{
		"one, by its name": {[]PlacementDecision{slice("web", "", "", "fleet/east", "west")}, "fleet/east shop/west", ""},
		"one, by its key":  {[]PlacementDecision{slice("a", "web", "", "fleet/east")}, "fleet/east", ""},
		"several slices": {[]PlacementDecision{slice("a", "web", "", "east"), slice("b", "web", "", "west", "east")},
			"shop/east shop/west", ""},
		"several slices in order": {[]PlacementDecision{slice("a", "web", "1", "east"), slice("b", "web", "0", "west")},
			"shop/east shop/west", ""},
		"the key goes before the name": {[]PlacementDecision{slice("a", "web", "", "east"), slice("web", "", "", "west")}, "shop/east", ""},
		"none are chosen":              {[]PlacementDecision{slice("web", "", "")}, "", ""},
		"nothing is decided": {nil, "",
			`there is no PlacementDecision "web" in the namespace, and none has the label multicluster.x-k8s.io/decision-key=web`},
		"it is of another namespace": {[]PlacementDecision{elsewhere}, "",
			`there is no PlacementDecision "web" in the namespace, and none has the label multicluster.x-k8s.io/decision-key=web`},
		"a slice of several": {[]PlacementDecision{slice("web", "all", "", "east")}, "",
			`PlacementDecision "web" may be one of several: name its label multicluster.x-k8s.io/decision-key=all`},
		"a slice is lacking": {[]PlacementDecision{slice("a", "web", "0", "east"), slice("c", "web", "2", "west")}, "",
			`the decision "web" is not whole: PlacementDecision "c" has multicluster.x-k8s.io/decision-index=2, and there are 2`},
		"the first slice is lacking": {[]PlacementDecision{slice("b", "web", "1", "west")}, "",
			`the decision "web" is not whole: PlacementDecision "b" has multicluster.x-k8s.io/decision-index=1, and there are 1`},
		"two slices in one place": {[]PlacementDecision{slice("a", "web", "0", "east"), slice("b", "web", "0", "west")}, "",
			`the decision "web" is not whole: PlacementDecision "b" has multicluster.x-k8s.io/decision-index=0, and there are 2`},
		"a slice without its place": {[]PlacementDecision{slice("a", "web", "0", "east"), slice("b", "web", "", "west")}, "",
			`the decision "web" is not whole: 1 of its 2 PlacementDecisions have no multicluster.x-k8s.io/decision-index`},
		"a place that is none": {[]PlacementDecision{slice("a", "web", "first", "east")}, "",
			`the decision "web" is not whole: PlacementDecision "a" has multicluster.x-k8s.io/decision-index=first, and there are 1`},
		"a cluster without a name": {[]PlacementDecision{slice("web", "", "", "")}, "",
			`PlacementDecision "web": a clusterProfileRef names no ClusterProfile`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decisions{
				Hub:       inventoryHub{all: tc.all},
				ClusterOf: func(namespace, name string) (string, bool) { return namespace + "/" + name, true },
			}
			got, err := d.Clusters(t.Context(), "shop", "web")
			said := ""
			if err != nil {
				said = err.Error()
			}
			fleettest.Same(t, "clusters, and why not", []string{tc.want, tc.err},
				[]string{strings.Join(slices.Sorted(maps.Keys(got)), " "), said})
			for cluster, replicas := range got {
				if replicas != nil {
					t.Errorf("%s is said to run %d replicas", cluster, *replicas)
				}
			}
		})
	}
}

// A decision is read up to a bound, and one that is beyond is not acted by in part.
func TestManyDecisions(t *testing.T) {
	var all []PlacementDecision
	for i := range mostSlices + 1 {
		clusters := make([]string, 100)
		for j := range clusters {
			clusters[j] = fmt.Sprintf("c-%d-%d", i, j)
		}
		all = append(all, slice(fmt.Sprintf("web-%d", i), "web", strconv.Itoa(i), clusters...))
	}
	d := Decisions{Hub: inventoryHub{all: all[:mostSlices]}, ClusterOf: func(_, name string) (string, bool) { return name, true }}
	if got, err := d.Clusters(t.Context(), "shop", "web"); len(got) != 100*mostSlices || err != nil {
		t.Errorf("%d clusters, error %v", len(got), err)
	}
	d.Hub = inventoryHub{all: all}
	if got, err := d.Clusters(t.Context(), "shop", "web"); got != nil || err == nil || !strings.Contains(err.Error(), "at most 100") {
		t.Errorf("%d clusters, error %v", len(got), err)
	}
}

// So many clusters may be unregistered, and no more.
func TestManyUnregistered(t *testing.T) {
	for n, want := range map[int]string{
		mostUnregistered: "<nil>",
		mostUnregistered + 1: `the decision "web" names 101 ClusterProfiles that register no cluster; at most 100 may be: ` +
			"register them, or see --clusterprofile-namespaces",
	} {
		names := []string{"registered"}
		for i := range n {
			names = append(names, fmt.Sprintf("c-%d", i))
		}
		all := []PlacementDecision{slice("a", "web", "0", names[:100]...), slice("b", "web", "1", names[100:]...)}
		d := Decisions{Hub: inventoryHub{all: all}, ClusterOf: func(_, name string) (string, bool) { return name, name == "registered" }}
		if got, err := d.Clusters(t.Context(), "shop", "web"); fmt.Sprint(err) != want || err == nil && len(got) != n+1 {
			t.Errorf("%d unregistered: %d clusters, error %v", n, len(got), err)
		}
	}
}

func TestDecisionsThatCannotBeRead(t *testing.T) {
	for want, err := range map[string]error{
		"no": errors.New("no"), "the hub does not serve PlacementDecisions of multicluster.x-k8s.io/v1alpha1": &meta.NoKindMatchError{},
	} {
		d := Decisions{Hub: inventoryHub{fails: err}}
		if _, got := d.Clusters(t.Context(), "shop", "web"); got == nil || got.Error() != want {
			t.Errorf("error %v, want %s", got, want)
		}
	}
}

func TestCheckDecision(t *testing.T) {
	for name, ok := range map[string]bool{
		"web": true, "web-1.v2": true, "": false, "a,b": false, "a=b": false, "a/b": false,
		strings.Repeat("a", 63): true, strings.Repeat("a", 64): false,
	} {
		if fault := CheckDecision(name); (fault == "") != ok {
			t.Errorf("%q: %q", name, fault)
		}
	}
}

// FuzzChosen holds for any slices: either all that they name is chosen, in order and once, or nothing.
func FuzzChosen(f *testing.F) {
	f.Add("0", "1", "east", "fleet", "west")
	f.Add("", "", "a/b", "", "")
	f.Fuzz(func(t *testing.T, index, other, name, namespace, second string) {
		parts := []PlacementDecision{slice("a", "web", index), slice("b", "web", other)}
		parts[0].Decisions = []ClusterDecision{{ClusterProfile{namespace, name}}}
		parts[1].Decisions = []ClusterDecision{{ClusterProfile{namespace, name}}, {ClusterProfile{"", second}}}
		got, err := chosen("web", "shop", parts)
		if err != nil && got != nil || err == nil && (len(got) == 0 || len(got) > 2) {
			t.Fatalf("%v is chosen, error %v", got, err)
		}
		if !slices.IsSortedFunc(got, ClusterProfile.compare) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("%v is chosen", got)
		}
		for _, p := range got {
			if p.Namespace == "" || p.Name == "" || strings.ContainsAny(p.Namespace+p.Name, "/ ") {
				t.Errorf("%v is chosen", p)
			}
		}
	})
}

// A copy shares nothing with what it is of.
func TestDecisionIsCopied(t *testing.T) {
	list := &PlacementDecisionList{Items: []PlacementDecision{slice("a", "web", "0", "east")}}
	c := list.DeepCopyObject().(*PlacementDecisionList)
	fleettest.Same(t, "the copy", list, c)
	c.Items[0].Decisions[0].ClusterProfileRef.Name, c.Items[0].Labels[decisionKeyLabel] = "west", "other"
	fleettest.Same(t, "what was copied", slice("a", "web", "0", "east"), list.Items[0])
}

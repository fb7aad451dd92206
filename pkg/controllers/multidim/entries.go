// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	fleetscalev1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// enter decides what new Pods of a cluster are created with, and returns that, or what they would be created with if that were possible
// there. Where nothing may be decided now, it stays.
func (p *plan) enter(a *actuation, said *recommendation.ClusterSizes) []sizes.NewContainer {
	stands, match := a.entries.Find(p.Object.Name), p.template.matchLabels()
	if !a.entries.Known || a.entries.Silence != nil {
		return containersIn(stands)
	}
	others := stands != nil && !maps.Equal(stands.MatchLabels, match) // it was written for another workload
	able := a.can.Admits && a.mode != sizes.ModeOff
	may := p.mayGive() && a.free()
	switch {
	case may && able:
		if others {
			stands = nil
		}
		return p.write(a, said, stands, match)
	case others, p.yields, a.can.Known && !able:
		a.removes = stands != nil
	default:
		return containersIn(stands)
	}
	if may {
		a.memory.born = sizes.NewPods(said.Template, said.Rooms, a.memory.born) // which running Pods may have, too
	}
	return a.memory.born
}

// free reports whether it is known that nobody else scales or sizes the workload in the cluster, and what its Pods use.
func (a *actuation) free() bool {
	return a.can.Known && a.shares && len(a.others) == 0 && a.unclaimed == nil && a.silent() == nil
}

// write decides what is to stand in a cluster for new Pods.
func (p *plan) write(a *actuation, said *recommendation.ClusterSizes, stands *fleetscalev1alpha1.SizedWorkload,
	match map[string]string) []sizes.NewContainer {
	born := sizes.NewPods(said.Template, said.Rooms, containersIn(stands))
	a.memory.born, a.unlabelled = born, match == nil
	if len(born) == 0 || match == nil {
		a.removes = a.entries.Find(p.Object.Name) != nil
		return nil
	}
	entry := entryOf(p.Object.Name, match, born)
	if stands == nil || !equality.Semantic.DeepEqual(*stands, entry) {
		a.sets = &entry
	}
	return born
}

// standing is how new Pods of a cluster get their sizes, if what they should be created with stands there. The revision is that of the
// template.
func (p *plan) standing(a *actuation, born []sizes.NewContainer, revision string) sizes.Admission {
	version, stands := "", a.entries.Find(p.Object.Name)
	if len(born) > 0 && a.sets == nil && stands != nil && a.can.Admits {
		version = fmt.Sprint(born, stands.MatchLabels, revision, a.can.Policies)
	}
	if version != a.memory.version {
		a.memory.version, a.memory.written = version, p.Now
	}
	if version == "" {
		return sizes.Admission{}
	}
	return sizes.Admission{Sizes: born, Written: a.memory.written, Version: version}
}

func containersIn(entry *fleetscalev1alpha1.SizedWorkload) (all []sizes.NewContainer) {
	if entry == nil {
		return nil
	}
	for _, c := range entry.Containers {
		all = append(all, sizes.NewContainerOf(c.Name, c.Requests, c.Limits))
	}
	return all
}

func entryOf(name string, match map[string]string, born []sizes.NewContainer) fleetscalev1alpha1.SizedWorkload {
	entry := fleetscalev1alpha1.SizedWorkload{Name: name, MatchLabels: match}
	for _, c := range born {
		requests, limits := c.Quantities()
		entry.Containers = append(entry.Containers, fleetscalev1alpha1.SizedContainer{Name: c.Name, Requests: requests, Limits: limits})
	}
	return entry
}

// mostLabels are so many that an entry holds.
const mostLabels = 64

// matchLabels are those by which a cluster knows new Pods: what the selector requires them to be; or, where it is not that simple, all
// of the template's. Nil: there are none, or too many.
func (t *template) matchLabels() map[string]string {
	match := map[string]string{}
	requirements, _ := t.selector.Requirements()
	for _, r := range requirements {
		if !isOne(r) {
			match = t.Labels
			break
		}
		match[r.Key()] = r.Values().UnsortedList()[0]
	}
	if len(match) == 0 || len(match) > mostLabels {
		return nil
	}
	return match
}

// isOne reports whether it requires one value.
func isOne(r labels.Requirement) bool {
	equal := slices.Contains([]selection.Operator{selection.Equals, selection.DoubleEquals, selection.In}, r.Operator())
	return equal && len(r.Values()) == 1
}

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
func (p *plan) enter(c *cluster, said *recommendation.ClusterSizes) []sizes.NewContainer {
	stands, match := c.entries.Find(p.Object.Name), p.template.matchLabels()
	if !c.entries.Known || c.entries.Silence != nil {
		return containersIn(stands)
	}
	others := stands != nil && !maps.Equal(stands.MatchLabels, match) // it was written for another workload
	able := c.can.Admits && c.mode != sizes.ModeOff
	may := p.mayGive() && c.free()
	switch {
	case may && able:
		if others {
			stands = nil
		}
		return p.write(c, said, stands, match)
	case others, p.yields, c.can.Known && !able:
		c.removes = stands != nil
	default:
		return containersIn(stands)
	}
	if may {
		c.memory.born = sizes.NewPods(said.Template, said.Rooms, c.memory.born) // which running Pods may have, too
	}
	return c.memory.born
}

// free reports whether it is known that nobody else scales or sizes the workload in the cluster, and what its Pods use.
func (c *cluster) free() bool {
	return c.can.Known && c.shares && len(c.others) == 0 && c.unclaimed == nil && c.silent() == nil
}

// write decides what is to stand in a cluster for new Pods.
func (p *plan) write(c *cluster, said *recommendation.ClusterSizes, stands *fleetscalev1alpha1.SizedWorkload,
	match map[string]string) []sizes.NewContainer {
	born := sizes.NewPods(said.Template, said.Rooms, containersIn(stands))
	c.memory.born, c.unlabelled = born, match == nil
	if len(born) == 0 || match == nil {
		c.removes = c.entries.Find(p.Object.Name) != nil
		return nil
	}
	entry := entryOf(p.Object.Name, match, born)
	if stands == nil || !equality.Semantic.DeepEqual(*stands, entry) {
		c.sets = &entry
	}
	return born
}

// standing is how new Pods of a cluster get their sizes, if what they should be created with stands there. The revision is that of the
// template.
func (p *plan) standing(c *cluster, born []sizes.NewContainer, revision string) sizes.Admission {
	version, stands := "", c.entries.Find(p.Object.Name)
	if len(born) > 0 && c.sets == nil && stands != nil && c.can.Admits {
		version = fmt.Sprint(born, stands.MatchLabels, revision, c.can.Policies)
	}
	if version != c.memory.version {
		c.memory.version, c.memory.written = version, p.Now
	}
	if version == "" {
		return sizes.Admission{}
	}
	return sizes.Admission{Sizes: born, Written: c.memory.written, Version: version}
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

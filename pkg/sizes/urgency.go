// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Candidate is a Pod that should have another size, and how urgent that is.
type Candidate struct {
	Pod *Running
	// Grows is true if a container should have more than it requests.
	Grows bool
	// Outside is true if a request lies outside the bounds of what is advised.
	Outside bool
	// QuickOOM is true if a container was killed soon after it began.
	QuickOOM bool
	// Urgent is true if a container should have more at once, since it was killed or lastingly uses all that it requests.
	Urgent bool
	// Difference is that of what is requested to what is advised, as a part of what is requested; summed over resources.
	Difference float64
}

const (
	leastDifference = 0.1            // that is worth a change
	lifetime        = 12 * time.Hour // before a Pod is changed for the sake of that
)

// Candidates returns the Pods to change, the most urgent first, in VPA's order: growing ones before others, then by their
// difference. Equals are in the order of their names. A Pod is changed if it is outside the bounds, was killed, or is old
// enough and differs enough; and, which VPA does not know, if it is urgent.
func Candidates(pods []Running, now time.Time) []Candidate {
	var all []Candidate
	for n := range pods {
		if c := candidateOf(&pods[n]); c.worth(now) || c.Urgent {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b Candidate) int {
		switch {
		case a.Grows != b.Grows && a.Grows:
			return -1
		case a.Grows != b.Grows:
			return 1
		}
		return cmp.Or(cmp.Compare(b.Difference, a.Difference), cmp.Compare(a.Pod.Name, b.Pod.Name))
	})
	return all
}

// AsAdvised reports whether the Pod requests what it should, or so nearly that it would not be changed for the difference.
func (p *Running) AsAdvised() bool {
	c := candidateOf(p)
	return !c.Outside && c.Difference < leastDifference
}

func (c *Candidate) worth(now time.Time) bool {
	if c.QuickOOM {
		return c.Difference != 0
	}
	return c.due(now)
}

// due reports whether it is worth a change apart from kills.
func (c *Candidate) due(now time.Time) bool {
	if c.Outside {
		return true
	}
	return !c.Pod.Started.IsZero() && !now.Before(c.Pod.Started.Add(lifetime)) && c.Difference >= leastDifference
}

func candidateOf(p *Running) Candidate {
	c := Candidate{Pod: p, QuickOOM: p.quickOOM()}
	for r := range resources {
		var requested, advised int64
		sized := false
		for n := range p.Containers {
			k := &p.Containers[n]
			request := k.Requests[r]
			target, _ := k.wanted(r)
			if target < 0 {
				continue
			}
			requested, advised, sized = requested+max(0, request), advised+target, true
			c.Grows = c.Grows || target > request
			c.Outside = c.Outside || request < 0 || request < k.Size.Lower[r] || k.Size.Upper[r] >= 0 && request > max(k.Size.Upper[r], target)
			c.Urgent = c.Urgent || k.urgent(r)
		}
		if sized {
			c.Difference += difference(r, requested, advised)
		}
	}
	return c
}

func (p *Running) quickOOM() bool {
	return slices.ContainsFunc(p.Containers, func(c RunningContainer) bool { return c.QuickOOM })
}

func (p *Running) killed() bool {
	return slices.ContainsFunc(p.Containers, func(c RunningContainer) bool { return c.OOM })
}

// difference is that of sums over containers. VPA counts memory in thousandths too; else ties would not be the same.
func difference(r Resource, requested, advised int64) float64 {
	if r == Memory {
		requested, advised = 1000*requested, 1000*advised
	}
	from := math.Max(float64(requested), 1)
	return math.Abs(from-float64(advised)) / from
}

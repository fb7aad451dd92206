// SPDX-License-Identifier: Apache-2.0

package sizes

// Grounds are what the advice for a fleet comes from, for people. Amounts are None where nothing is known.
type Grounds struct {
	// Options are how it was made.
	Options Options
	// Usage is what so many of a hundred samples of each resource are below, and Own what is advised by that alone.
	Usage, Own Amounts
	// Held: a cluster is silent, and nothing becomes less than Last.
	Held bool
	Last Amounts
}

// GroundedAdvice is [AdviseFleet], and what its advice comes from.
func GroundedAdvice(parts []Part, o Options, last Advice) (Advice, Grounds) {
	u, silent := Together(parts)
	return u.Grounded(o, silent, last)
}

// Together is what all clusters used, and whether one of them is silent.
func Together(parts []Part) (u *Use, silent bool) {
	u = &Use{}
	for _, p := range inOrder(parts) {
		u.Merge(p.Use)
		silent = silent || p.Silent
	}
	return u, silent
}

// Grounded is the advice for a fleet that used this, and what it comes from; silent: one of its clusters is.
func (u *Use) Grounded(o Options, silent bool, last Advice) (Advice, Grounds) {
	a := u.Advise(o)
	g := Grounds{Options: o, Usage: none(), Own: a.Target, Last: none()}
	for r := range g.Usage {
		if u.Samples > 0 {
			g.Usage[r] = amount(u.percentile(Resource(r), o.Percentile[r]))
		}
	}
	if silent && last != (Advice{}) {
		a, g.Held, g.Last = a.hold(last), true, last.Target
	}
	return a, g
}

// Step is what one bound makes of a target.
type Step struct {
	Reason Reason
	// Amount is the bound: the least, if Least is true, or else the most. Size is what it leaves.
	Amount int64
	Least  bool
	Size   int64
}

// ReasonLeast is of the least that is legal, and at least 1: a request of nothing is none.
const ReasonLeast Reason = "Least"

// StepsOf are what bounds the target of a container of the template, whatever the room of clusters; only those that change it. The target
// is None where the resource stays as the template has it: the reasons say why, and are none if it is not sized.
func StepsOf(t *Template, container int, r Resource) (steps []Step, target int64, left []Reason) {
	c := &t.Containers[container]
	if target = c.Advice.Target[r]; target < 0 {
		return nil, None, nil
	}
	k := capContainer(c, t.Guaranteed, Unlimited().Container, r)
	if k.target < 0 {
		return nil, None, k.reasons
	}
	for _, b := range append(k.bounds, bound{ReasonLeast, k.least, true}) {
		if v := b.apply(target); v != target {
			target = v
			steps = append(steps, Step{b.reason, b.amount, b.least, v})
		}
	}
	return steps, target, nil
}

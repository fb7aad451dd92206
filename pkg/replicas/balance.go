// SPDX-License-Identifier: Apache-2.0

package replicas

// balance weighs what Pods use against what they should, with the Pods whose use is not known on the side that changes
// less: if the others use too little, they are taken to be busy; if the others use too much, to be idle.
type balance struct {
	groups    groups
	tolerance tolerance
	current   int32
	// ratio is usage over target, with these Pods filled in. An error ends it.
	ratio func(filled) (float64, error)
}

// filled says which Pods without known use take part.
type filled struct {
	busy    bool // the missing ones, as busy
	idle    bool // the missing ones, as idle
	unready bool // the unready ones, as idle
}

func (b balance) replicas() (int32, error) {
	first, err := b.ratio(filled{})
	if err != nil {
		return 0, err
	}
	f := filled{unready: b.groups.unready > 0 && first > 1}
	if b.groups.missing == 0 && !f.unready {
		if b.tolerance.within(first) {
			return b.current, nil
		}
		return ceil32(first * float64(b.groups.counted)), nil
	}
	if b.groups.missing > 0 {
		f.busy, f.idle = first < 1, first > 1
	}
	second, err := b.ratio(f)
	if err != nil {
		return 0, err
	}
	if b.tolerance.within(second) || turned(first, second) {
		return b.current, nil
	}
	return b.onward(second, ceil32(second*float64(b.groups.entries(f)))), nil
}

// turned reports whether the Pods filled in changed the direction.
func turned(first, second float64) bool {
	return first < 1 && second > 1 || first > 1 && second < 1
}

// onward is the number of replicas, unless it goes against the ratio because there are more or fewer Pods than replicas.
func (b balance) onward(ratio float64, replicas int32) int32 {
	if ratio < 1 && replicas > b.current || ratio > 1 && replicas < b.current {
		return b.current
	}
	return replicas
}

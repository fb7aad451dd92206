// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"maps"
	"slices"
)

// Answer is what the fleet said to one question. Each asked member is in
// exactly one of Values and Silent.
type Answer[T any] struct {
	// Values holds what each member that answered has; the zero T when it has none.
	Values map[string]T
	// Silent holds why each other asked member's part is missing.
	Silent map[string]*Silence
	// Absent names the members of Values that do not serve the API, or do not know the metric.
	Absent []string
	// Drained names the asked members that did not answer and that nobody waits for; see [Answer.Release].
	Drained []string
}

// NewAnswer returns an empty answer to which members are added, about so many.
func NewAnswer[T any](members int) Answer[T] {
	return Answer[T]{Values: make(map[string]T, members), Silent: map[string]*Silence{}}
}

// Add files one member's result under what its error counts as; see [Classify].
func (a *Answer[T]) Add(cluster string, value T, err error) {
	silence, absent := Classify(err)
	if silence != nil {
		a.Silent[cluster] = silence
		return
	}
	a.Values[cluster] = value
	if absent {
		a.Absent = append(a.Absent, cluster)
	}
}

// Release has nobody wait for the members that are silent and drained: the answer is whole without them.
func (a *Answer[T]) Release(drained func(cluster string) bool) {
	for name := range a.Silent {
		if drained(name) {
			delete(a.Silent, name)
			a.Drained = append(a.Drained, name)
		}
	}
}

// Coverage returns who took part, in name order.
func (a Answer[T]) Coverage() Coverage {
	c := Coverage{
		Answered: names(a.Values),
		Absent:   slices.Sorted(slices.Values(a.Absent)),
		Drained:  slices.Sorted(slices.Values(a.Drained)),
	}
	for _, name := range names(a.Silent) {
		c.Silent = append(c.Silent, SilentMember{Cluster: name, Silence: *a.Silent[name]})
	}
	return c
}

// names are in order; nil for none.
func names[T any](of map[string]T) []string {
	if len(of) == 0 {
		return nil
	}
	all := slices.AppendSeq(make([]string, 0, len(of)), maps.Keys(of))
	slices.Sort(all)
	return all
}

// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// What was recorded, written and read is decided as it was first, in all that is said of it, and so is the decision after it.
func TestRecordsAreDecidedAsTheyWere(t *testing.T) {
	rounds := 1_000_000
	switch {
	case testing.Short():
		rounds = 2_000
	case raced:
		rounds = 10_000
	}
	const each = 100 // records of one stream
	for seed := range uint64(rounds / each) {
		r := rand.New(rand.NewPCG(seed, 11))
		var records []*Record
		var decisions []replicas.Decision
		var state replicas.State
		for i := range each {
			q := randomQuestion(r)
			q.Generation = int64(i / 2)
			if i%2 == 1 { // as the same object continues
				q.Spec, q.State = records[i-1].Question.Spec, state
				q.Metrics = q.Metrics[:min(len(q.Metrics), len(q.Spec.Metrics))]
			}
			record, d := recorded(q)
			records, decisions = append(records, record), append(decisions, d)
			if state = d.State; d.Rescale {
				state = d.Scaled(q.Now).State
			}
		}
		for i, record := range through(t, records...) {
			again := replicas.Decide(record.Question)
			if equal(decisions[i], again) { // to ask what differs takes ten times as long
				continue
			}
			if diff := cmp.Diff(decisions[i], again, same); diff != "" {
				t.Fatalf("seed %d, record %d (-first +again):\n%s", seed, i, diff)
			}
		}
	}
}

// equal reports whether decisions are the same in all that is said of them; of some that are, it does not know.
func equal(a, b replicas.Decision) bool {
	worded(&a)
	worded(&b)
	type said struct {
		rescale     bool
		replicas    int32
		status      any
		events      []replicas.Event
		state       replicas.State
		err         error
		explanation replicas.Explanation
	}
	of := func(d *replicas.Decision) said {
		return said{d.Rescale, d.Replicas, d.Status, d.Events, d.State, d.Err, d.Explanation}
	}
	return reflect.DeepEqual(of(&a), of(&b))
}

// worded leaves of errors their words.
func worded(d *replicas.Decision) {
	words := func(err *error) {
		if *err != nil {
			*err = errors.New((*err).Error())
		}
	}
	words(&d.Err)
	d.Explanation.Metrics = slices.Clone(d.Explanation.Metrics)
	for i := range d.Explanation.Metrics {
		words(&d.Explanation.Metrics[i].Err)
		words(&d.Explanation.Metrics[i].Working.Told.Err)
	}
}

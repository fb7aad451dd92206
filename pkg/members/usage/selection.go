// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/compact"
)

// Selection is the part of a batch that was asked for, in its order. The zero
// Selection is empty.
type Selection struct {
	batch *Batch
	// picks are the places in the batch; nil stands for all of them.
	picks []int32
}

func selectFrom(b *Batch, selector labels.Selector) Selection {
	if selector.Empty() {
		return Selection{batch: b}
	}
	var of compact.Named // one for all, for each would be an allocation
	return Selection{batch: b}.Where(func(s Sample) bool {
		of = compact.Named{Labels: s.labels, Name: s.name}
		return selector.Matches(&of)
	})
}

// Len is the number of samples.
func (s Selection) Len() int {
	if s.picks == nil {
		return s.batch.Len()
	}
	return len(s.picks)
}

// At is the i-th sample.
func (s Selection) At(i int) Sample {
	if s.picks == nil {
		return s.batch.At(i)
	}
	return s.batch.At(int(s.picks[i]))
}

// Where is the part of the selection for which keep is true.
func (s Selection) Where(keep func(Sample) bool) Selection {
	picks := []int32{}
	for i := range s.Len() {
		if keep(s.At(i)) {
			place := int32(i)
			if s.picks != nil {
				place = s.picks[i]
			}
			picks = append(picks, place)
		}
	}
	return Selection{batch: s.batch, picks: picks}
}

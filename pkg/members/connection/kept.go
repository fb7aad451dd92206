// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"math"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// keptOfUnlimited is what may be kept where nothing tells how much memory there is.
const keptOfUnlimited = 1 << 30

// keptOf is how much may be kept of members between their answers, by a process with that limit of memory. When it runs
// out, the member of which the most is kept gives way, by its largest part.
func keptOf(memory int64) int64 {
	if memory == math.MaxInt64 {
		return keptOfUnlimited
	}
	return memory / 3
}

// Kept is one part of what is kept of what a member sent, such as all objects of a kind.
type Kept struct{ loan *loan }

// Keep begins one, of no bytes. giveUp is called at most once: when others need the room, and this is what gives way. It must
// not block, nor use the Kept.
func (r *Reading) Keep(giveUp func()) *Kept { return &Kept{r.kept.loan(giveUp)} }

var errKept error = fleet.Silencef(fleet.ReasonTooLarge,
	"what is to be kept of this cluster is more than there is memory for (a third of GOMEMLIMIT for all clusters, and half of that for one)")

// Add counts so many bytes more, or less. After an error nothing must be kept, and nothing more counts.
func (k *Kept) Add(bytes int64) error {
	if k.loan.take(bytes) != nil {
		return errKept
	}
	return nil
}

// GiveBack is for what is no longer kept, which may begin again.
func (k *Kept) GiveBack() { k.loan.giveBack() }

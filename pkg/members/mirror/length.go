// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"errors"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Bounds of one list. Kubernetes supports 150 000 Pods in a cluster; of these a
// list has some 750 MiB in 300 pages.
const (
	mostPages   = 2_000
	mostObjects = 500_000
	mostBytes   = 1 << 30
)

var (
	errEndless error = &fleet.Silence{Reason: fleet.ReasonTooLarge, Detail: "the list has more than 2000 pages, 500000 objects or 1 GiB"}
	errRepeats error = &fleet.Silence{Reason: fleet.ReasonBadAnswer, Detail: "a page of the list continues where it began"}
)

// length is how much of a list was read. A member can say that there is more for
// ever.
type length struct {
	pages, objects, bytes int
}

// add counts a page that was read from one place of the list to the next; from is
// empty for the first page. After an error the list is not to be gone on with.
func (l *length) add(from, next string, objects, bytes int) error {
	if from == "" {
		*l = length{}
	}
	l.pages++
	l.objects += objects
	l.bytes += bytes
	switch {
	case next != "" && next == from:
		return errRepeats
	case l.objects > mostObjects, l.bytes > mostBytes, next != "" && l.pages >= mostPages:
		return errEndless
	}
	return nil
}

// hasNoEnd is true for a list that must be begun again, if at all.
func hasNoEnd(err error) bool {
	silence, _ := fleet.Classify(err)
	return errors.Is(err, errRepeats) || silence != nil && silence.Reason == fleet.ReasonTooLarge
}

// SPDX-License-Identifier: Apache-2.0

package memberapi

import (
	"math/rand/v2"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
)

// change is one that watches tell. Objects are shared: do not write to them.
type change struct {
	kind   watch.EventType
	object *v1alpha1.Member
	// before is what the object was; nil: there was none.
	before *v1alpha1.Member
}

// history is the last changes, each numbered by a resource version.
type history struct {
	// first is the version at which this replica started, last that of the last change.
	first, last uint64
	// changes are the last ones, in order; the one of version v is at index v % len(changes).
	changes []change
}

// versionBits are those for changes below the time of the start, in milliseconds: 41 bits until 2039, and 42 for a century.
const versionBits = 20

// newHistory returns an empty one of a replica that starts now, with room for so many changes.
func newHistory(now time.Time, room int) *history {
	first := uint64(now.UnixMilli())<<versionBits + rand.Uint64N(1<<versionBits)
	return &history{first: first, last: first, changes: make([]change, room)}
}

// add numbers a change. The object bears its version.
func (h *history) add(c change) {
	h.last++
	c.object.ResourceVersion = versionText(h.last)
	h.changes[h.last%uint64(len(h.changes))] = c
}

// at is the change of that version, which must be held.
func (h *history) at(version uint64) change { return h.changes[version%uint64(len(h.changes))] }

// holds is true when all changes after the version are still there.
func (h *history) holds(version uint64) bool { return h.last-version <= uint64(len(h.changes)) }

// check is nil for a resource version of this replica.
func (h *history) check(version uint64) error {
	if version < h.first || version > h.last {
		return apierrors.NewResourceExpired("the resource version " + versionText(version) +
			" is of another replica of the metrics adapter, or of before a restart; list again")
	}
	return nil
}

// tooOld is for a version after which changes are no longer there.
func tooOld(version uint64) *apierrors.StatusError {
	return apierrors.NewResourceExpired("too many changes since the resource version " + versionText(version) + "; list again")
}

func versionText(version uint64) string { return strconv.FormatUint(version, 10) }

// parseVersion reads a resource version. Zero: any will do.
func parseVersion(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	version, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest("resourceVersion: " + strconv.Quote(text) + " is none; leave it out")
	}
	return version, nil
}

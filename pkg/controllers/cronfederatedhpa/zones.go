// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"sync"
	"time"

	"github.com/fleetscale/fleetscale/pkg/schedule"
)

// zones keeps the time zones that rules name, of which there are some 600:
// each is read once.
type zones struct {
	byDefault string
	known     sync.Map // of *time.Location by name
}

// find is a [zoneFinder].
func (z *zones) find(name *string) (*time.Location, string, error) {
	called := z.byDefault
	if name != nil {
		called = *name
	}
	if zone, ok := z.known.Load(called); ok {
		return zone.(*time.Location), called, nil
	}
	zone, err := schedule.LoadZone(called)
	if err != nil {
		return nil, called, err
	}
	z.known.Store(called, zone)
	return zone, called, nil
}

// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"fmt"
	"time"

	"k8s.io/utils/lru"

	"github.com/fleetscale/fleetscale/pkg/schedule"
)

// maxSchedules is how many schedules are kept read. Most fleets have far fewer
// that differ.
const maxSchedules = 4096

// schedules reads schedules in their zones, and keeps them: to read one costs
// more than all else when there is nothing to do.
type schedules struct {
	byDefault string // the zone of rules that name none
	read      *lru.Cache
	zones     *lru.Cache
}

func newSchedules(zone string) schedules {
	return schedules{byDefault: zone, read: lru.New(maxSchedules), zones: lru.New(maxSchedules)}
}

// timetable is a schedule with the name of its zone.
type timetable struct {
	schedule schedule.Schedule
	location *time.Location
	zone     string
}

// of reads a rule's schedule. The error is for the one who wrote it.
func (s *schedules) of(expression string, zone *string) (timetable, error) {
	read := timetable{zone: s.byDefault}
	if zone != nil {
		read.zone = *zone
	}
	key := [2]string{expression, read.zone}
	if known, ok := s.read.Get(key); ok {
		return known.(timetable), nil
	}
	var err error
	if read.location, err = s.locate(read.zone); err != nil {
		return read, fmt.Errorf("timeZone %q %w", read.zone, err)
	}
	if read.schedule, err = schedule.Parse(expression, read.location); err != nil {
		return read, fmt.Errorf("schedule %q: %w", expression, err)
	}
	s.read.Add(key, read)
	return read, nil
}

// locate finds a zone: the same one each time, for each takes some space.
func (s *schedules) locate(zone string) (*time.Location, error) {
	if known, ok := s.zones.Get(zone); ok {
		return known.(*time.Location), nil
	}
	location, err := schedule.LoadZone(zone)
	if err == nil {
		s.zones.Add(zone, location)
	}
	return location, err
}

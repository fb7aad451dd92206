// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"time"

	"k8s.io/utils/lru"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/schedule"
)

// maxSchedules is how many schedules are kept read. Most fleets have far fewer
// that differ.
const maxSchedules = 4096

// schedules keeps what was read of schedules and zones.
type schedules struct {
	byDefault string // the zone of rules that name none
	read      *lru.Cache
	zones     *lru.Cache
}

func newSchedules(zone string) schedules {
	return schedules{byDefault: zone, read: lru.New(maxSchedules), zones: lru.New(maxSchedules)}
}

// of are the timetables of an object's rules.
func (s *schedules) of(object *v1alpha1.CronFederatedHPA) []cronplan.Timetable {
	all := make([]cronplan.Timetable, len(object.Spec.Rules))
	for i := range all {
		rule := &object.Spec.Rules[i]
		all[i] = s.timetable(rule.Schedule, ptr.Deref(rule.TimeZone, s.byDefault))
	}
	return all
}

func (s *schedules) timetable(expression, zone string) cronplan.Timetable {
	key := [2]string{expression, zone}
	if known, ok := s.read.Get(key); ok {
		return known.(cronplan.Timetable)
	}
	read := cronplan.ReadTimetable(expression, zone, s.locate)
	if read.Fault == "" {
		s.read.Add(key, read)
	}
	return read
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

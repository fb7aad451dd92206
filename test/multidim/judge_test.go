// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// The properties.
const (
	interference = "P1 interference"
	runaway      = "P2 runaway"
	starvation   = "P2 starvation"
	bounds       = "P3 bounds"
	rest         = "P4 rest"
	reserve      = "P5 reserve"
	budgets      = "P6 budgets"
	patience     = "P7 patience"
	decided      = "P0 decided"
)

const (
	memory   = 10 * time.Minute // for how long a high load may keep replicas up
	response = 30 * time.Minute // until a load has the replicas that it needs, doubling from few; on full nodes Pods grow first
	day      = int(24 * time.Hour / tick)
)

// faults are the properties that do not hold, each with the first place where it does not.
type faults map[string]string

func (f faults) add(property, format string, args ...any) {
	if f[property] == "" {
		f[property] = fmt.Sprintf(format, args...)
	}
}

// verdict judges a run beside one of the same workload whose sizes do not change.
type verdict struct {
	*scenario
	got, alone *record
	faults     faults
}

func judge(s *scenario, got, alone *record) faults {
	v := verdict{s, got, alone, faults{}}
	v.interference()
	v.load()
	v.bounds()
	v.rest()
	v.reserve()
	if got.hasty > 0 {
		v.faults.add(patience, "%d times", got.hasty)
	}
	if got.greedy > 0 {
		v.faults.add(budgets, "%d times", got.greedy)
	}
	if len(got.errs) > 0 {
		v.faults.add(decided, "%s", got.errs[0])
	}
	return v.faults
}

func at(i int) time.Duration { return time.Duration(i) * tick }

func (v *verdict) interference() {
	for i, n := range v.got.replicas[:min(len(v.got.replicas), v.got.censoredAt, v.got.evictedAt, v.alone.censoredAt)] {
		if n != v.alone.replicas[i] {
			v.faults.add(interference, "after %v there are %d replicas, and %d without sizing", at(i), n, v.alone.replicas[i])
			return
		}
	}
}

// load judges that replicas follow it.
func (v *verdict) load() {
	use := float64(v.use())
	peak, trough := int(memory/tick), int(response/tick)
	if v.spare >= 0 {
		trough *= 2
		trough += int(2 * v.lag / tick)
	}
	for i, n := range v.got.replicas {
		highest := slices.Max(v.got.served[max(0, i-peak) : i+1])
		if most := max(int(v.minimum), int(math.Ceil(highest/(0.9*use)))+1); n > most && i > peak {
			v.faults.add(runaway, "after %v there are %d replicas, and %d are enough", at(i), n, most)
		}
		if i < trough || i%sync != 0 || v.hidden() {
			continue
		}
		lowest := slices.Min(v.demand[i-trough : i+1])
		if least := min(int(v.maximum), int(lowest/(1.2*use))); n < least {
			v.faults.add(starvation, "after %v there are %d replicas, and %d are needed", at(i), n, least)
		}
	}
}

// allowed are the bounds of what a container may request. Of several, none but the least is bounded here.
func (v *verdict) allowed(container int) (least, most int64) {
	least, most = 1, math.MaxInt64
	cut := func(bound int64) {
		if bound >= 0 {
			most = min(most, bound)
		}
	}
	cut(v.maxAllowed)
	limit := v.template[container].Limits.CPU
	switch ratio := v.room.Container.MaxRatio[sizes.CPU]; {
	case v.guaranteed: // a lower limit would hide what it uses
		most = max(most, v.use()+(v.use()+4)/5)
	case limit > 0 && ratio > 0: // what is legal counts for more than what users allow
		least = (limit*1000 + ratio - 1) / ratio
		most = min(max(most, least), limit)
	case limit > 0:
		cut(limit)
	}
	if node := v.room.Node[sizes.CPU]; node >= 0 {
		cut(node * (100 - v.room.Headroom) / 100)
	}
	cut(v.room.Container.Max[sizes.CPU])
	return min(max(least, v.minAllowed), most), most
}

func (v *verdict) bounds() {
	for _, g := range v.got.given {
		request, limit := g.Requests[sizes.CPU], g.Limits[sizes.CPU]
		least, most := v.allowed(g.container)
		if request < least || request > most || limit >= 0 && request > limit {
			v.faults.add(bounds, "after %v container %d is to request %d of %d, allowed are %d to %d", at(g.tick), g.container, request, limit,
				least, most)
		}
		if v.guaranteed && request != limit {
			v.faults.add(bounds, "after %v container %d would be of another class: %d of %d", at(g.tick), g.container, request, limit)
		}
	}
}

// rest judges the last day, if its load and its replicas stay.
func (v *verdict) rest() {
	last := v.alone.replicas[max(0, len(v.alone.replicas)-day):]
	if !v.steady || len(last) < day || slices.Min(last) != slices.Max(last) {
		return
	}
	from := len(v.got.replicas) - day
	if now := v.got.replicas[from:]; slices.Min(now) != slices.Max(now) {
		v.faults.add(rest, "replicas change between %d and %d", slices.Min(now), slices.Max(now))
	}
	for _, resizes := range v.got.kept {
		for n, i := range resizes {
			if n > 0 && resizes[n-1] >= from && i-resizes[n-1] < day/2 {
				v.faults.add(rest, "after %v a Pod is resized again, %v after the last time", at(i), at(i-resizes[n-1]))
			}
		}
	}
}

// reserve judges what Pods have where there are more than the minimum, for as long as it takes to resize them all.
func (v *verdict) reserve() {
	floor := int64(math.MaxInt64)
	if len(v.template) == 1 {
		_, floor = v.allowed(0)
	}
	floor = min(floor, v.use(), v.base())
	syncs := 2 + int(v.maximum)/v.resizes
	if v.refuses { // Pods of each cluster are evicted one after the other
		syncs += int((policy.Deferred + 2*time.Duration(v.maximum)*(v.birth+2*time.Minute)) / (sync * tick))
	}
	patience := int((3*time.Minute+2*v.lag)/tick) + syncs*sync
	above := 0
	for i, n := range v.got.replicas {
		if above++; n <= int(v.minimum) {
			above = 0
		}
		if above > patience && v.got.lowest[i] < floor {
			v.faults.add(reserve, "after %v, %d replicas, a Pod has %d, and %d are to be reserved", at(i), n, v.got.lowest[i], floor)
			return
		}
	}
}

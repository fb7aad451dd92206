// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// Basis is what a decision was made by.
type Basis string

// The bases of decisions.
const (
	BasisMetrics  Basis = "Metrics"     // by the metrics
	BasisNothing  Basis = "NoMetrics"   // the metrics cannot be used, so that nothing changes
	BasisMax      Basis = "MaxReplicas" // there are more replicas than the spec allows
	BasisMin      Basis = "MinReplicas" // there are fewer than it asks for
	BasisDisabled Basis = "Disabled"    // somebody else scaled to zero
)

// Rule is how a metric comes to its number.
type Rule string

// The rules.
const (
	RuleUtilization Rule = "Utilization"  // what Pods use in percent of their requests
	RuleAverage     Rule = "AverageValue" // the mean of Pods
	RuleRatio       Rule = "Value"        // a value over its target, times Ready Pods
	RuleShare       Rule = "Share"        // a value over its target for each replica
)

// Working is how a metric came to its number.
type Working struct {
	Rule Rule
	// Target is in milli; of a utilization in percent.
	Target int64
	// ToleranceDown and ToleranceUp are by how much the ratio may be below and above 1.
	ToleranceDown, ToleranceUp float64
	// Replicas are those that all clusters together were told; Asks those that they should have, before copies divide them.
	Replicas, Asks int32
	Outcome        Outcome
	// Value is that of the counted Pods, or the value itself. Second is that with others filled in; used only if Refilled.
	Value, Second int64
	Refilled      bool
	// Busy and Idle: missing Pods are filled in so; Unready: unready Pods are, as idle.
	Busy, Idle, Unready bool
	// Entries are the Pods, or replicas, by which the ratio is multiplied.
	Entries int
	Told    Told
}

// Told is what a decision uses of the answer to a metric, and of the Pods: with it in their place the decision can be made again.
type Told struct {
	// Err is why the Pods cannot be used: none is known, none was measured, or one lacks a request.
	Err error
	// Sums are of metrics of Pods, and Clusters how those of each counted.
	Sums     Sums
	Clusters []PodCount
	// Value is that of an Object or External metric, in milli.
	Value int64
	// Ready are the Ready Pods; ReadyUnknown: they could not be counted. Only of [RuleRatio].
	Ready        int64
	ReadyUnknown bool
	// Running are the replicas that the fleet runs by its own account; Lagging: a cluster has yet to hear what it was told. Only of
	// [RuleShare].
	Running int32
	Lagging bool
}

// Sums are the Pods by class, and what they use and request, in milli. A sum beyond int64 is the greatest.
type Sums struct {
	Ignored, Unready, Missing, Counted int
	// Strangers are samples of Pods that no list holds.
	Strangers int
	// Used is what counted Pods use, StrangersUsed what strangers do.
	Used, StrangersUsed int64
	// Requests are those of counted Pods. They, and what follows, are of utilizations only.
	Requests, UnreadyRequests, MissingRequests int64
	// Busy is what missing Pods would use if they were busy, for the target of this decision.
	Busy int64
	// ByRequest are the missing Pods by what they request: Busy for any other target. Empty: none is missing, or too many differ.
	ByRequest []Requested
}

// Requested are missing Pods of the same request.
type Requested struct {
	// Request is in milli.
	Request int64
	// Abandoned: nobody waits for their cluster, which cannot be seen.
	Abandoned bool
	Pods      int
}

// BusyAt returns what missing Pods would use if they were busy, for a target in percent; false: that is not known.
func (s *Sums) BusyAt(target int32) (int64, bool) {
	if s.Missing > 0 && len(s.ByRequest) == 0 {
		return 0, false
	}
	u, busy := utilization{target: target}, sum{}
	for _, r := range s.ByRequest {
		busy.addTimes(percentOf(r.Request, u.busy(r.Abandoned)), r.Pods)
	}
	return busy.toInt64(), true
}

// Window is what the recommendations of the past say, without the present one.
type Window struct {
	// Up and Down are how long recommendations count. Up is not used without behavior.
	Up, Down time.Duration
	// Lowest and Highest are those of the windows; nil: there was none.
	Lowest, Highest *int32
}

func atLeast(highest *int32, replicas int32) *int32 {
	if highest != nil && *highest >= replicas {
		return highest
	}
	return &replicas
}

func atMost(lowest *int32, replicas int32) *int32 {
	if lowest != nil && *lowest <= replicas {
		return lowest
	}
	return &replicas
}

// Rate is how far replicas may go at once, in the direction that they go.
type Rate struct {
	// Limit is the most they may rise to, or the least they may fall to. Means nothing with behavior if replicas stay.
	Limit int32
	// Policy is the one that says so, and Start the replicas when its period began; none without behavior.
	Policy autoscalingv2.HPAScalingPolicy
	Start  int64
	// Disabled: the spec allows no change in that direction.
	Disabled bool
}

func (v *view) worked(rule Rule, target int64, w weighed, told Told) Working {
	t := v.tolerance()
	return Working{
		Rule: rule, Target: target, ToleranceDown: t.down, ToleranceUp: t.up, Replicas: v.told(), Asks: w.replicas, Outcome: w.outcome,
		Value: w.value, Second: w.second, Refilled: w.refilled, Busy: w.filled.busy, Idle: w.filled.idle, Unready: w.filled.unready,
		Entries: w.entries, Told: told,
	}
}

// told is what a metric of these Pods was told.
func (g *groups) told(err error) Told {
	s := Sums{
		Ignored: g.ignored, Unready: g.unready, Missing: g.missing, Counted: g.counted, Strangers: g.strangers,
		Used: g.used.toInt64(), StrangersUsed: g.strangersUsed.toInt64(),
		Requests: g.requests[counted].toInt64(), UnreadyRequests: g.requests[unready].toInt64(),
		MissingRequests: g.requests[missing].toInt64(), Busy: g.busy.toInt64(),
	}
	if n := g.byRequestLen; n > 0 && n <= mostRequests {
		s.ByRequest = append([]Requested(nil), g.byRequest[:n]...)
	}
	return Told{Err: err, Sums: s, Clusters: g.clusters}
}

// groups are those of which t was told.
func (t *Told) groups() groups {
	s := &t.Sums
	g := groups{
		ignored: s.Ignored, unready: s.Unready, missing: s.Missing, counted: s.Counted, strangers: s.Strangers,
		used: widen(s.Used), strangersUsed: widen(s.StrangersUsed), busy: widen(s.Busy), clusters: t.Clusters,
	}
	g.requests[counted], g.requests[unready], g.requests[missing] = widen(s.Requests), widen(s.UnreadyRequests), widen(s.MissingRequests)
	for _, r := range s.ByRequest {
		g.addMissing(r)
	}
	return g
}

// values are those of an answer, or the one that an earlier decision was told.
func (m *Metric) values() []int64 {
	if m.Told != nil {
		return []int64{m.Told.Value}
	}
	return m.Values
}

// SPDX-License-Identifier: Apache-2.0

package series

import "github.com/fleetscale/fleetscale/pkg/replicas"

// Kind is one number of what a metric was told.
type Kind int

// The kinds: first those that count Pods, and from Used on those that are amounts, in milli.
const (
	Counted Kind = iota
	Unready
	Missing
	Unlisted
	Ready
	Running
	Used
	UnlistedUsed
	Requested
	UnreadyRequested
	MissingRequested
	Busy
	Value
	kinds
)

// String is the kind as a label has it.
func (k Kind) String() string {
	return [kinds]string{"counted", "unready", "missing", "unlisted", "ready", "running",
		"used", "unlisted_used", "requested", "unready_requested", "missing_requested", "busy", "value"}[k]
}

// IsAmount reports whether the kind is no number of Pods.
func (k Kind) IsAmount() bool { return k >= Used }

func kindOf(label string, amount bool) (Kind, bool) {
	for k := range kinds {
		if k.String() == label && k.IsAmount() == amount {
			return k, true
		}
	}
	return 0, false
}

// Tell goes over the numbers of what a metric with that rule was told, always the same, and sets each to what do makes of it: so what
// writes them and what reads them cannot differ.
func Tell(rule replicas.Rule, t *replicas.Told, do func(Kind, int64) int64) {
	s := &t.Sums
	pods := func(k Kind, n *int) { *n = int(do(k, int64(*n))) }
	amount := func(k Kind, n *int64) { *n = do(k, *n) }
	switch rule {
	case replicas.RuleUtilization, replicas.RuleAverage:
		pods(Counted, &s.Counted)
		pods(Unready, &s.Unready)
		pods(Missing, &s.Missing)
		pods(Unlisted, &s.Strangers)
		amount(Used, &s.Used)
	case replicas.RuleRatio:
		amount(Ready, &t.Ready)
		amount(Value, &t.Value)
	case replicas.RuleShare:
		t.Running = int32(do(Running, int64(t.Running)))
		amount(Value, &t.Value)
	}
	switch rule {
	case replicas.RuleUtilization:
		amount(Requested, &s.Requests)
		amount(UnreadyRequested, &s.UnreadyRequests)
		amount(MissingRequested, &s.MissingRequests)
		amount(Busy, &s.Busy)
	case replicas.RuleAverage:
		amount(UnlistedUsed, &s.StrangersUsed)
	}
}

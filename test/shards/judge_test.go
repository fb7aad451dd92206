// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	division "github.com/fleetscale/fleetscale/pkg/shards"
	"github.com/fleetscale/fleetscale/test/lab"
)

// span is a time in which a replica held a shard. All times are those of when an API server got a request.
type span struct {
	shard int
	by    string // the address of one life of a replica
	// from is the write that took the Lease. to is that which released it, or the next one that took it; or else when it expired.
	from, to time.Time
}

func (s span) String() string {
	const exact = "15:04:05.000"
	return fmt.Sprintf("%s held shard %d from %s to %s", s.by, s.shard, s.from.Format(exact), s.to.Format(exact))
}

// leaseWrite is an accepted write of a shard's Lease.
type leaseWrite struct {
	shard, version int
	by, holder     string
	begun          time.Time
}

// leaseWrites are those of so many shards, in the order in which they were stored.
func leaseWrites(writes []lab.Write, shards int) (all []leaseWrite, err error) {
	for i := range writes {
		w := &writes[i]
		l := leaseWrite{by: w.Source, begun: w.Begun}
		of := 0
		n, _ := fmt.Sscanf(w.Name, "controller-manager-shard-%d-of-%d.fleetscale.io", &l.shard, &of)
		if w.Resource != "leases" || !w.Accepted() || n != 2 || of != shards {
			continue
		}
		var stored coordinationv1.Lease
		if err := json.Unmarshal(w.Stored, &stored); err != nil {
			return nil, fmt.Errorf("reading Lease %s: %w", w.Name, err)
		}
		if stored.Spec.HolderIdentity != nil {
			l.holder = *stored.Spec.HolderIdentity
		}
		if l.version, err = strconv.Atoi(stored.ResourceVersion); err != nil {
			return nil, fmt.Errorf("reading Lease %s: %w", w.Name, err)
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b leaseWrite) int { return cmp.Compare(a.version, b.version) })
	return all, nil
}

// spansOf says who held which shard when, of Leases that last so long; and where one was taken from who still held it.
func spansOf(leases []leaseWrite, lasts time.Duration) (spans []span, faults []string) {
	type holder struct {
		identity string
		at       int // in spans
	}
	holders := map[int]holder{}
	for _, w := range leases {
		now, held := holders[w.shard]
		switch {
		case held && now.identity == w.holder || held && w.holder == "":
			last := &spans[now.at]
			if w.by != last.by {
				faults = append(faults, fmt.Sprintf("%s wrote the Lease in the name of another: %v", w.by, *last))
			}
			switch {
			case w.holder == "":
				last.to = earlier(last.to, w.begun)
				delete(holders, w.shard)
			case w.begun.Before(last.to):
				last.to = w.begun.Add(lasts)
			default: // nobody else took it meanwhile
				spans = append(spans, span{w.shard, w.by, w.begun, w.begun.Add(lasts)})
				holders[w.shard] = holder{w.holder, len(spans) - 1}
			}
		case w.holder != "":
			if held && w.begun.Before(spans[now.at].to) {
				faults = append(faults, fmt.Sprintf("%s took the Lease before it expired: %v", w.by, spans[now.at]))
				spans[now.at].to = w.begun
			}
			spans = append(spans, span{w.shard, w.by, w.begun, w.begun.Add(lasts)})
			holders[w.shard] = holder{w.holder, len(spans) - 1}
		}
	}
	return spans, faults
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// isOfObject reports whether what is written belongs to an autoscaler, whose name it has; known: that can be told.
func isOfObject(w *lab.Write) (is, known bool) {
	switch w.Resource {
	case "federatedhpas", "cronfederatedhpas", "horizontalpodautoscalers":
		return true, true
	case "leases", "events", "secrets", "configmaps", "serviceaccounts", "tokenreviews", "subjectaccessreviews", "selfsubjectaccessreviews",
		"selfsubjectrulesreviews":
		return false, true
	}
	return w.Subresource == "scale", w.Subresource == "scale"
}

// foreign are writes, also those that were refused, by who did not hold the shard of the object then, or not until they were answered.
func foreign(writes []lab.Write, spans []span, shards int) (judged int, faults []string) {
	for i := range writes {
		w := &writes[i]
		is, known := isOfObject(w)
		if !known {
			faults = append(faults, fmt.Sprintf("%s: whose is that?", told(w)))
		}
		if !is {
			continue
		}
		judged++
		if fault := foreignTo(w, spans, division.Of(w.Namespace, w.Name, shards)); fault != "" {
			faults = append(faults, fault)
		}
	}
	return judged, faults
}

func foreignTo(w *lab.Write, spans []span, shard int) (fault string) {
	var others []string
	held := false
	for _, s := range spans {
		switch {
		case s.shard != shard || s.to.Before(w.Begun) || s.from.After(w.Done):
		case s.by == w.Source && !w.Begun.Before(s.from) && w.Begun.Before(s.to):
			held = true
		case s.by != w.Source:
			others = append(others, s.String())
		}
	}
	switch {
	case !held:
		return fmt.Sprintf("%s, who did not hold shard %d: %s", told(w), shard, cmp.Or(strings.Join(others, "; "), "nobody did"))
	case len(others) > 0:
		return fmt.Sprintf("%s, while shard %d changed hands: %s", told(w), shard, strings.Join(others, "; "))
	}
	return ""
}

func told(w *lab.Write) string {
	path := strings.Trim(w.Resource+"/"+w.Subresource, "/")
	return fmt.Sprintf("%s at %s: %s %s %s (%d)", w.Source, w.Begun.Format("15:04:05.000"), w.Verb, path, w.Name, w.Code)
}

// change is a write by which an object has so many replicas, or bounds.
type change struct {
	at time.Time
	to int32
	// unknown: the API server did not say whether it was stored.
	unknown bool
}

// scalings are the changes of replicas of one workload.
func scalings(writes []lab.Write, name string) ([]change, error) {
	is := func(w *lab.Write) bool { return w.Subresource == "scale" && w.Name == name }
	return changesOf(writes, is, func(stored []byte) (int32, error) {
		var scale autoscalingv1.Scale
		err := json.Unmarshal(stored, &scale)
		return scale.Spec.Replicas, err
	})
}

// boundings are the writes of the HorizontalPodAutoscaler of that name, by its maximum.
func boundings(writes []lab.Write, name string) ([]change, error) {
	is := func(w *lab.Write) bool {
		return w.Resource == "horizontalpodautoscalers" && w.Subresource == "" && w.Name == name
	}
	return changesOf(writes, is, func(stored []byte) (int32, error) {
		var hpa autoscalingv2.HorizontalPodAutoscaler
		err := json.Unmarshal(stored, &hpa)
		return hpa.Spec.MaxReplicas, err
	})
}

func changesOf(writes []lab.Write, is func(*lab.Write) bool, read func(stored []byte) (int32, error)) (all []change, err error) {
	for i := range writes {
		w := &writes[i]
		if !is(w) {
			continue
		}
		c := change{at: w.Begun, unknown: w.Code >= 499}
		if !c.unknown {
			if !w.Accepted() {
				continue
			}
			if c.to, err = read(w.Stored); err != nil {
				return nil, fmt.Errorf("reading what was stored of %s: %w", w.Name, err)
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// due is a change that is to come, once, within some time, and before the next one is due.
type due struct {
	at     time.Time
	within time.Duration
	to     int32
}

// missed compares what came with what was due, until some time: each once, in time, and nothing else. If repeatable, each at least
// once: the former one too, until the next came. Late is how long after its time each came.
func missed(name string, came []change, dues []due, until time.Time, repeatable bool) (late []time.Duration, faults []string) {
	came = slices.SortedStableFunc(slices.Values(came), func(a, b change) int { return a.at.Compare(b.at) })
	for i, d := range dues {
		end := until
		if i+1 < len(dues) {
			end = dues[i+1].at
		}
		var right []change
		unknown := false
		for _, c := range came {
			switch {
			case c.at.Before(d.at) || !c.at.Before(end):
			case c.unknown:
				unknown = true
			case c.to == d.to:
				right = append(right, c)
			case repeatable && len(right) == 0 && i > 0 && c.to == dues[i-1].to:
			default:
				faults = append(faults, fmt.Sprintf("%s: got %d at %s, when %d was due", name, c.to, c.at.Format(time.TimeOnly), d.to))
			}
		}
		switch {
		case len(right) == 0 && !unknown:
			faults = append(faults, fmt.Sprintf("%s: missed %d, due at %s", name, d.to, d.at.Format(time.TimeOnly)))
		case len(right) > 1 && !repeatable:
			faults = append(faults, fmt.Sprintf("%s: got %d %d times, which was due at %s", name, d.to, len(right), d.at.Format(time.TimeOnly)))
		}
		if len(right) > 0 {
			took := right[0].at.Sub(d.at)
			late = append(late, took)
			if took > d.within {
				faults = append(faults, fmt.Sprintf("%s: got %d after %v, want %v at most", name, d.to, took, d.within))
			}
		}
	}
	return late, faults
}

// recordedRuns compares what the statuses of a CronFederatedHPA ever said of its runs with the times at which rules were due.
func recordedRuns(writes []lab.Write, name string, dues []due) (faults []string, err error) {
	ran := map[time.Time]map[metav1.Time]bool{}
	for i := range writes {
		w := &writes[i]
		if w.Resource != "cronfederatedhpas" || w.Subresource != "status" || w.Name != name || !w.Accepted() {
			continue
		}
		var stored v1alpha1.CronFederatedHPA
		if err := json.Unmarshal(w.Sent, &stored); err != nil { // the answer has no status
			return nil, fmt.Errorf("reading the status of %s: %w", name, err)
		}
		for _, rule := range stored.Status.ExecutionHistories {
			for _, run := range rule.SuccessfulExecutions {
				at := run.ScheduleTime.UTC()
				if ran[at] == nil {
					ran[at] = map[metav1.Time]bool{}
				}
				ran[at][metav1.NewTime(run.ExecutionTime.UTC())] = true
			}
			for _, run := range rule.FailedExecutions {
				fault := fmt.Sprintf("%s: its status says that the run of %v failed: %s", name, run.ScheduleTime.UTC(), run.Message)
				if !slices.Contains(faults, fault) {
					faults = append(faults, fault)
				}
			}
		}
	}
	for _, d := range dues {
		if n := len(ran[d.at.UTC()]); n != 1 {
			faults = append(faults, fmt.Sprintf("%s: its status tells of %d runs at %s, want one", name, n, d.at.Format(time.TimeOnly)))
		}
	}
	return faults, nil
}

// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"time"

	"github.com/fleetscale/fleetscale/pkg/replay"
)

// report is what programs get, and what the text is made of.
type report struct {
	// Type is that of the autoscaler.
	Type      string    `json:"type"`
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	Decisions int       `json:"decisions"`
	// Differences are decisions that are not as they were recorded, by the same spec.
	Differences int `json:"differences"`
	// Torn: the end of the record could not be read.
	Torn bool `json:"torn,omitempty"`
	// Skipped are decisions of a kind that is not known, and Others those made in the other mode than the last one.
	Skipped int `json:"skipped,omitempty"`
	Others  int `json:"others,omitempty"`
	// Changed: Would is by another spec.
	Changed bool `json:"changed"`
	// Above is the bound of the use, in percent; of what Pods request, or of the targets as they were.
	Above      int64 `json:"above"`
	OfRequests bool  `json:"ofRequests"`
	Was        sums  `json:"was"`
	Would      sums  `json:"would"`
	// Seconds is for how long decisions were recorded, and Unknown for how long of that the load is not known, by the reason.
	Seconds float64                    `json:"seconds"`
	Unknown map[replay.Unknown]float64 `json:"unknownSeconds,omitempty"`
	// Clusters are those of the decisions; decisions on sizes have none. ClustersEstimated: what they would run is their share of the
	// fleet's replicas, divided as they were.
	Clusters          []clusterSums `json:"clusters,omitempty"`
	ClustersEstimated bool          `json:"clustersEstimated,omitempty"`
	// InFact are what Pods requested, where the decisions were on sizes: that may only have been advice.
	InFact *inFact        `json:"inFact,omitempty"`
	Points []replay.Point `json:"points"`

	// splits: the decisions split bounds among the clusters.
	splits bool
}

// clusterSums are what both sides come to in one cluster.
type clusterSums struct {
	Name  string     `json:"name"`
	Was   clusterSum `json:"was"`
	Would clusterSum `json:"would"`
}

// clusterSum has its times in seconds.
type clusterSum struct {
	PodHours float64 `json:"podHours"`
	// Changes are how often the replicas changed; nil: an estimate does not tell.
	Changes      *int    `json:"changes,omitempty"`
	AboveSeconds float64 `json:"aboveSeconds"`
	// BoundSums are there where bounds are split among clusters.
	*BoundSums

	UnknownSeconds float64 `json:"unknownSeconds,omitempty"`
}

// BoundSums have the mean bounds over the time.
type BoundSums struct {
	MeanMin      float64 `json:"meanMin"`
	MeanMax      float64 `json:"meanMax"`
	BoundChanges int     `json:"boundChanges"`
	AtMaxSeconds float64 `json:"atMaxSeconds"`
}

func (r *report) clusterSum(s replay.ClusterSum) clusterSum {
	sum := clusterSum{PodHours: s.PodHours, Changes: &s.Changes, AboveSeconds: s.Above.Seconds(), UnknownSeconds: s.Unknown.Seconds()}
	if r.splits {
		sum.BoundSums = &BoundSums{s.Min, s.Max, s.BoundChanges, s.AtMax.Seconds()}
	}
	return sum
}

// inFact is what Pods requested, and how many containers were killed for want of memory.
type inFact struct {
	CoreHours float64 `json:"coreHours"`
	GiBHours  float64 `json:"gibHours"`
	Kills     int     `json:"kills"`
}

// title names the object.
func (r *report) title() string { return r.Type + " " + r.Namespace + "/" + r.Name }

// sums have their times in seconds.
type sums struct {
	replay.Sums

	AboveSeconds float64 `json:"aboveSeconds"`
	AtMaxSeconds float64 `json:"atMaxSeconds"`
	HeldSeconds  float64 `json:"heldSeconds"`

	// Of decisions on sizes: for how long a container used more than it would have requested.
	AboveCPUSeconds    float64 `json:"aboveCPUSeconds,omitempty"`
	AboveMemorySeconds float64 `json:"aboveMemorySeconds,omitempty"`
}

func newSums(s replay.Sums) sums {
	return sums{s, s.Above.Seconds(), s.AtMax.Seconds(), s.Held.Seconds(), s.Sizes.AboveCPU.Seconds(), s.Sizes.AboveMemory.Seconds()}
}

func newReport(l *loaded, result *replay.Result, above int64, changed bool) *report {
	above = bound(above, result.OfRequests)
	s := result.Summarize(above)
	r := &report{
		Type: l.Type(), Namespace: l.Namespace, Name: l.Name, Decisions: len(result.Points), Differences: result.Differences,
		Torn: l.torn, Changed: changed,
		From: result.Points[0].At, To: result.Points[len(result.Points)-1].At,
		Above: above, OfRequests: result.OfRequests, Was: newSums(s.Was), Would: newSums(s.Would), Seconds: s.Lasts.Seconds(),
		Skipped: l.skipped, Others: l.others, Unknown: map[replay.Unknown]float64{}, Points: result.Points,
		ClustersEstimated: result.Estimated && len(s.Clusters) > 0, splits: l.records[0].Split != nil,
	}
	if result.Points[0].InFact != nil {
		r.InFact = &inFact{s.InFact.CoreHours, s.InFact.GiBHours, s.Kills}
	}
	for _, c := range s.Clusters {
		was, would := r.clusterSum(c.Was), r.clusterSum(c.Would)
		if result.Estimated { // it moves with the division, too
			would.Changes = nil
		}
		r.Clusters = append(r.Clusters, clusterSums{c.Name, was, would})
	}
	for reason, lasts := range s.Unknown {
		r.Unknown[reason] = lasts.Seconds()
	}
	return r
}

// bound is that of the use.
func bound(above int64, ofRequests bool) int64 {
	switch {
	case above > 0:
		return above
	case ofRequests:
		return usualOfRequests
	}
	return usualOfTarget
}

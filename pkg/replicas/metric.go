// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Metric is what the fleet answered when asked for one metric of the spec.
type Metric struct {
	// Err is why there is no answer, as a metrics client words it: unable to fetch metrics from … metrics API: …, or no
	// metrics returned from … metrics API. Then only the coverage is used besides.
	Err error
	// Pods holds the samples of a Resource, ContainerResource or Pods metric, by cluster and by Pod. A Pod without a
	// sample is not in it. Samples of clusters where the workload is not placed do not count.
	Pods map[string]map[string]Sample
	// Values are those of an External metric, in milli; of an Object metric it is one.
	Values []int64
	// Coverage says which clusters the answer holds. Nil: it holds all. For metrics of Pods, a cluster that it does not
	// prove present is not seen; for Object and External ones, where not every cluster need be asked, one that is Silent
	// and not Covered.
	Coverage *fleet.Coverage
	// Told stands for Pods, for Values and for the Pods of all clusters, if it is there: the decision is made again of what an earlier
	// one was told.
	Told *Told
}

// Sample is what one Pod was measured to use.
type Sample struct {
	// Value is in milli.
	Value int64
	// At is when the measurement ended, by the cluster's clock.
	At time.Time
	// Window is for how long it was taken.
	Window time.Duration
}

// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"errors"
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/recording"
)

// Trial is a run by another target.
type Trial struct {
	// Target is in percent of a utilization, and in milli otherwise.
	Target int64
	Summary
}

// Wish is what a target has to do.
type Wish struct {
	// Above is the bound of the use, in percent, and For is for how long it may be above that at most.
	Above int64
	For   float64 // part of the time
	// Headroom is by how much maxReplicas is to be more than what the metrics asked for, as a part of it.
	Headroom float64
}

// Advice is what a sweep leads to.
type Advice struct {
	Target      int64 `json:"target"`
	MinReplicas int32 `json:"minReplicas"`
	MaxReplicas int32 `json:"maxReplicas"`
	// AtLeast: the load is not known at some time, and may have asked for more.
	AtLeast bool `json:"atLeast,omitempty"`
}

// Free has the bounds hold nothing, so that replicas are what the metrics ask for.
func Free(spec *v1alpha1.FederatedHPASpec) *v1alpha1.FederatedHPASpec {
	spec = spec.DeepCopy()
	spec.MaxReplicas, spec.MinReplicas = max(spec.MaxReplicas, mostFree), new(min(1, ptr.Deref(spec.MinReplicas, 1)))
	return spec
}

// mostFree is far beyond what a fleet runs of one workload.
const mostFree = 1 << 20

// Sweep replays the records by each target of the metric of that index.
func Sweep(records []*recording.Record, o Options, metric int, targets []int64, wish Wish) ([]Trial, error) {
	trials := make([]Trial, 0, len(targets))
	change := o.Change
	for _, target := range targets {
		o.Change = then(change, func(spec *v1alpha1.FederatedHPASpec) error { return retarget(spec, metric, target) })
		result, err := Run(records, o)
		if err != nil {
			return nil, err
		}
		trials = append(trials, Trial{target, result.Summarize(wish.Above)})
	}
	return trials, nil
}

// then changes a copy of what another change, if there is one, makes of a spec.
func then[S interface{ DeepCopy() S }](first func(S) (S, error), change func(S) error) func(S) (S, error) {
	return func(before S) (S, error) {
		spec := before
		if first != nil {
			var err error
			if spec, err = first(before); err != nil {
				return spec, err
			}
		}
		spec = spec.DeepCopy()
		return spec, change(spec)
	}
}

func retarget(spec *v1alpha1.FederatedHPASpec, metric int, target int64) error {
	if metric < 0 || metric >= len(spec.Metrics) {
		return fmt.Errorf("spec.metrics[%d]: there are %d", metric, len(spec.Metrics))
	}
	switch t := v1alpha1.TargetOf(&spec.Metrics[metric]); {
	case t == nil:
		return fmt.Errorf("spec.metrics[%d] has no target", metric)
	case t.AverageValue != nil:
		t.AverageValue = resource.NewMilliQuantity(target, t.AverageValue.Format)
	case t.AverageUtilization != nil:
		t.AverageUtilization = new(int32(target))
	case t.Value != nil:
		t.Value = resource.NewMilliQuantity(target, t.Value.Format)
	}
	return nil
}

// Advise returns the target with the least Pod-hours that does what is wished; the error says why none does.
func Advise(trials []Trial, wish Wish) (*Advice, error) {
	var best *Trial
	for i := range trials {
		t := &trials[i]
		if t.Would.Above.Seconds() > wish.For*t.Lasts.Seconds() {
			continue
		}
		if best == nil || t.Would.PodHours < best.Would.PodHours {
			best = t
		}
	}
	switch {
	case best == nil:
		return nil, fmt.Errorf("with none of the targets the use is above %d %% for so little of the time", wish.Above)
	case best.Would.MostAsked == 0:
		return nil, errors.New("no decision was made by metrics")
	}
	return &Advice{
		Target: best.Target, MinReplicas: best.Would.LeastAsked,
		MaxReplicas: int32(min(math.Ceil(float64(best.Would.MostAsked)*(1+wish.Headroom)), math.MaxInt32)),
		AtLeast:     len(best.Unknown) > 0,
	}, nil
}

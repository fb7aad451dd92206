// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// SizeField is a field of spec.constraints.container of which several values can be tried.
type SizeField string

// The fields.
const (
	TargetPercentile SizeField = "targetPercentile"
	MarginPercent    SizeField = "marginPercent"
)

// SizeFields are all of them.
func SizeFields() []SizeField { return []SizeField{TargetPercentile, MarginPercent} }

// Range are the values that the field may have.
func (f SizeField) Range() (least, most int64) {
	if f == MarginPercent {
		return 0, 100
	}
	return sizes.LeastPercentile, sizes.MostPercentile
}

// SizeTrial is a run by another value of the field in all containers, and for both resources.
type SizeTrial struct {
	Value int32
	Summary
}

// SweepSizes replays decisions on sizes by each value of a field.
func SweepSizes(records []*recording.Record, o Options, field SizeField, values []int32) ([]SizeTrial, error) {
	trials := make([]SizeTrial, 0, len(values))
	change := o.ChangeSizes
	for _, value := range values {
		o.ChangeSizes = then(change, func(spec *v1alpha1.MultidimPodAutoscalerSpec) error { field.set(spec, value); return nil })
		result, err := Run(records, o)
		if err != nil {
			return nil, err
		}
		trials = append(trials, SizeTrial{value, result.Summarize(0)})
	}
	return trials, nil
}

// set gives each container the value.
func (f SizeField) set(spec *v1alpha1.MultidimPodAutoscalerSpec, value int32) {
	all := &spec.Constraints.Container
	if !slices.ContainsFunc(*all, func(c v1alpha1.ContainerConstraint) bool { return c.Name == v1alpha1.AnyContainer }) {
		*all = append(*all, v1alpha1.ContainerConstraint{Name: v1alpha1.AnyContainer})
	}
	for i := range *all {
		if c := &(*all)[i]; f == MarginPercent {
			c.MarginPercent = &value
		} else {
			c.TargetPercentile = v1alpha1.TargetPercentile{CPU: &value, Memory: &value}
		}
	}
}

// SizeAdvice is what trials of sizes lead to: the least value that does, for each resource; nil: none of them does.
type SizeAdvice struct {
	CPU    *int32 `json:"cpu,omitempty"`
	Memory *int32 `json:"memory,omitempty"`
	// AtLeast: use is not known at some time, and may have been more.
	AtLeast bool `json:"atLeast,omitempty"`
}

// AdviseSizes returns the least values with which no container uses more than it requests for longer than a part of the time and, of
// memory, with which as many kills are covered as with any.
func AdviseSizes(trials []SizeTrial, within float64) SizeAdvice {
	var a SizeAdvice
	if len(trials) == 0 {
		return a
	}
	fewest := trials[0].Would.Sizes.Uncovered
	for i := range trials {
		fewest = min(fewest, trials[i].Would.Sizes.Uncovered)
	}
	for i := range trials {
		t := &trials[i]
		does := func(above time.Duration) bool { return above.Seconds() <= within*t.Lasts.Seconds() }
		if s := &t.Would.Sizes; does(s.AboveCPU) && (a.CPU == nil || t.Value < *a.CPU) {
			a.CPU = &t.Value
		}
		if s := &t.Would.Sizes; does(s.AboveMemory) && s.Uncovered == fewest && (a.Memory == nil || t.Value < *a.Memory) {
			a.Memory = &t.Value
		}
		a.AtLeast = a.AtLeast || len(t.Unknown) > 0
	}
	return a
}

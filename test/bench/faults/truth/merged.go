// SPDX-License-Identifier: Apache-2.0

package truth

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	customv1beta2 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	externalv1beta1 "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
)

// Sum judges the figure of one object, which is the sum of what each member that was asked
// says, in thousandths.
func (j *Judge) Sum(said map[string]int64, a Answer) Judgement {
	list := &customv1beta2.MetricValueList{}
	if bad := j.read(a, list); bad != nil {
		return *bad
	}
	missing, fault := a.missing(slices.Sorted(maps.Keys(said)))
	if fault != nil {
		return *fault
	}
	if len(list.Items) != 1 {
		return *because(Broken, "%d figures of one object", len(list.Items))
	}
	var sum, all int64
	for member, value := range said {
		all += value
		if !slices.Contains(missing, member) {
			sum += value
		}
	}
	switch got := list.Items[0].Value.MilliValue(); {
	case got == sum:
		return whole(missing)
	case len(missing) == 0 && got < all:
		return *because(Silent, "%d thousandths of %d, and nobody is said to be missing", got, all)
	default:
		return *because(WrongValue, "%d thousandths instead of %d, without %v", got, sum, missing)
	}
}

// Series is one of an external metric.
type Series struct {
	// Labels as labels.Set writes them.
	Labels string
	// Value in thousandths.
	Value int64
}

// Series judges the series of an external metric, of which each is there once,
// with the largest value of those members that were asked and have it.
func (j *Judge) Series(said map[string][]Series, a Answer) Judgement {
	list := &externalv1beta1.ExternalMetricValueList{}
	if bad := j.read(a, list); bad != nil {
		return *bad
	}
	missing, fault := a.missing(slices.Sorted(maps.Keys(said)))
	if fault != nil {
		return *fault
	}
	all, expected := largest(said, nil), largest(said, missing)
	for _, i := range list.Items {
		of := labels.Set(i.MetricLabels).String()
		want, known := expected[of]
		switch got := i.Value.MilliValue(); {
		case !known:
			return *because(WrongValue, "series %q is there twice, or of nobody that answered", of)
		case got == want:
		case len(missing) == 0 && got < all[of]:
			return *because(Silent, "series %q: %d thousandths instead of %d, and nobody is said to be missing", of, got, want)
		default:
			return *because(WrongValue, "series %q: %d thousandths instead of %d, without %v", of, got, want, missing)
		}
		delete(expected, of)
	}
	for of := range expected {
		return *because(Silent, "series %q is missing, and those that have it are not said to be", of)
	}
	return whole(missing)
}

func largest(said map[string][]Series, without []string) map[string]int64 {
	all := map[string]int64{}
	for member, series := range said {
		if slices.Contains(without, member) {
			continue
		}
		for _, s := range series {
			before, known := all[s.Labels]
			if !known || s.Value > before {
				all[s.Labels] = s.Value
			}
		}
	}
	return all
}

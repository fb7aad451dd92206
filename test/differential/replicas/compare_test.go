// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// compare returns how two outcomes differ; empty if they do not.
func compare(w *world, theirs, mine outcome) string {
	theirs, mine = masked(theirs), masked(mine)
	for i := range min(len(theirs.Status.CurrentMetrics), len(mine.Status.CurrentMetrics)) {
		dropShareOfNone(&theirs.Status.CurrentMetrics[i], &mine.Status.CurrentMetrics[i])
	}
	if apiequality.Semantic.DeepEqual(theirs, mine) {
		return ""
	}
	return "Kubernetes (-), fleetscale (+):\n" + cmp.Diff(strings.Split(text(theirs), "\n"), strings.Split(text(mine), "\n"))
}

// masked leaves out what is not meant to be equal; see the package's documentation.
func masked(o outcome) outcome {
	o.Status = *o.Status.DeepCopy()
	o.Status.Conditions = slices.DeleteFunc(o.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool {
		return c.Type == v1alpha1.FleetVisible
	})
	for i := range o.Status.Conditions {
		o.Status.Conditions[i].Message = sorted(o.Status.Conditions[i].Message)
	}
	o.Events = slices.Clone(o.Events)
	for i := range o.Events {
		o.Events[i].Message = sorted(o.Events[i].Message)
	}
	return o
}

var (
	ambiguous  = fmt.Sprintf("[%s/%s %s/%s]", namespace, name, namespace, rival)
	anyCluster = regexp.MustCompile(`cluster member-[0-9]+: `)
	anyPod     = regexp.MustCompile(`not found in Pod [^ ']+( \(not created yet\))?`)
)

// sorted names two autoscalers in one order, no cluster, and no Pod where any could be named.
func sorted(message string) string {
	message = strings.ReplaceAll(message, ambiguous, fmt.Sprintf("[%s/%s %s/%s]", namespace, rival, namespace, name))
	return anyPod.ReplaceAllString(anyCluster.ReplaceAllString(message, ""), "not found in Pod")
}

// dropShareOfNone drops the share of a value for each of no replicas.
func dropShareOfNone(theirs, mine *autoscalingv2.MetricStatus) {
	share, ours := shareOf(theirs), shareOf(mine)
	if *share != nil && *ours != nil && ((*share).MilliValue() == math.MinInt64 || (*share).MilliValue() == math.MaxInt64) {
		*share, *ours = nil, nil
	}
}

func shareOf(m *autoscalingv2.MetricStatus) **resource.Quantity {
	switch {
	case m.External != nil:
		return &m.External.Current.AverageValue
	case m.Object != nil:
		return &m.Object.Current.AverageValue
	}
	return new(*resource.Quantity)
}

func text(v any) string {
	out, err := yaml.Marshal(v)
	must(err)
	return string(out)
}

// describe is all that one must know to understand a difference.
func describe(w *world, step int, difference string) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "step %d, %d clusters, drained %d, uncreated %v, target %+v\n%s", step, w.clusters, w.drained, w.uncreated, w.target,
		text(w.hpa.Spec))
	for question, a := range w.answers {
		fmt.Fprintf(b, "%s: %v %v\n", question, a.err, a.values)
	}
	for _, p := range w.pods {
		fmt.Fprintf(b, "%s %s %v started %v deleted %v ready %+v\n", p.Name, p.Status.Phase, p.Labels, p.Status.StartTime, p.DeletionTimestamp,
			p.Status.Conditions)
		for question, a := range w.answers {
			if s, found := a.samples[p.Name]; found {
				fmt.Fprintf(b, "    %s = %d at %v\n", question, s.value, s.at)
			}
		}
	}
	return b.String() + difference
}

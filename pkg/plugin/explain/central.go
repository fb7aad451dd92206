// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// central is why the fleet has so many replicas.
func central(o *v1alpha1.FederatedHPA, now time.Time) (string, error) {
	e := o.Status.Explanation
	if e == nil {
		return "", unexplained(o)
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "FederatedHPA %s/%s: %d replicas, from %d: %s\n", o.Namespace, o.Name, e.DesiredReplicas, e.CurrentReplicas,
		because(e.LimitedBy))
	fmt.Fprintf(b, "  decided %s%s%s\n", ago(e.Time.Time, now), lastChange(o, now), state(o))
	if says := summary.Desired(&o.Status); says != nil && *says != e.DesiredReplicas {
		fmt.Fprintf(b, "  the status says %d by now: not all of it could be written, or it was written since\n", *says)
	}
	b.WriteString(explanation.Text(e))
	return b.String(), nil
}

func unexplained(o *v1alpha1.FederatedHPA) error {
	if o.Spec.Mode == v1alpha1.ModePaused {
		return fmt.Errorf("FederatedHPA %s/%s has no status.explanation: spec.mode is Paused, so that nothing is decided", o.Namespace, o.Name)
	}
	return fmt.Errorf("FederatedHPA %s/%s has no status.explanation: the controller-manager writes it with its next decision; if it stays "+
		"away, update the CustomResourceDefinition and the controller-manager, and read the conditions of the object", o.Namespace, o.Name)
}

func lastChange(o *v1alpha1.FederatedHPA, now time.Time) string {
	if o.Status.LastScaleTime == nil {
		return ", and never scaled"
	}
	return ", and last scaled " + ago(o.Status.LastScaleTime.Time, now)
}

func state(o *v1alpha1.FederatedHPA) string {
	if o.Status.Summary == nil || o.Status.Summary.State == "" {
		return ""
	}
	return "; it is " + string(o.Status.Summary.State)
}

// Because says in words what limitedBy of an explanation says in one.
func Because(limitedBy string) string { return because(limitedBy) }

// because says in words what limits.
func because(limit string) string {
	words := map[string]string{
		explanation.StepHeld:          "clusters cannot be seen, so nothing is scaled down",
		explanation.StepWindow:        "the stabilization window restrains",
		explanation.StepPolicy:        "replicas change only so fast",
		explanation.StepBounds:        "minReplicas and maxReplicas hold it",
		explanation.StepFromZero:      "from zero at least minReplicas are run",
		explanation.LimitAway:         "clusters are away, or maxima exceed the fleet's, so nothing moves between the others",
		explanation.LimitAllSaturated: "no cluster can take what another cannot host",
		explanation.LimitThresholds:   "autoscalingMaxThreshold leaves a part of maxReplicas to nobody",
		explanation.LimitNothing:      "nothing calls for another split",
		"Scaled":                      "the metrics ask for it",
		"WithinTolerance":             "the metrics are within the tolerance",
		"MissingDecide":               "Pods without a sample could turn the direction",
		"AgainstRatio":                "the number of Pods goes against the ratio",
		"Lagging":                     "clusters have yet to hear what they were told",
		"NotAboveReplicas":            "the metrics may lack a part",
		"NoMetrics":                   "the metrics cannot be used",
		"MaxReplicas":                 "there were more than maxReplicas",
		"MinReplicas":                 "there were fewer than minReplicas",
		"Disabled":                    "somebody scaled to zero",
	}
	if w, known := words[limit]; known {
		return w
	}
	return limit
}

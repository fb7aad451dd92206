// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/plugin/explain"
)

// detail is one autoscaler, as its own page shows it.
type detail struct {
	row
	Now int64 `json:"now"`
	// Limit says in a sentence what limits it; empty: not known.
	Limit string `json:"limit,omitempty"`
	// Explanation is what `kubectl fleetscale explain` prints.
	Explanation string      `json:"explanation,omitempty"`
	Conditions  []condition `json:"conditions"`
	Clusters    []cluster   `json:"clusters"`
	Metrics     []metric    `json:"metrics"`
	Series      series      `json:"series"`
	Coming      []coming    `json:"coming"`
	// Sizes are those that are recommended, and SizesOver what a record has of them.
	Sizes     *recommended `json:"sizes,omitempty"`
	SizesOver *sizesOver   `json:"sizesOver,omitempty"`
	// Recorded is what a record has of it; its points are in Series, or in SizesOver.
	Recorded *recorded `json:"recorded,omitempty"`
	// RecordTrouble is why it may have more; empty: nothing is.
	RecordTrouble string `json:"recordTrouble,omitempty"`
	// Reading: a record is being read, and nothing is known of it yet.
	Reading bool   `json:"reading,omitempty"`
	Events  []said `json:"events"`
	// EventsTrouble is why there may be other Events; empty: nothing is.
	EventsTrouble string `json:"eventsTrouble,omitempty"`
}

// condition is one of an object's.
type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
	Since   int64  `json:"since,omitempty"`
}

// said is an Event.
type said struct {
	// First and At are when it was said at first and last.
	First   int64  `json:"first"`
	At      int64  `json:"at"`
	Count   int32  `json:"count"`
	Warning bool   `json:"warning,omitempty"`
	Reason  string `json:"reason"`
	Note    string `json:"note"`
}

// known is what a page about an autoscaler is made of.
type known struct {
	Object client.Object
	Points []point
	// Recorded is what was before; nil: nothing is known of it.
	Recorded *recorded
	// Rules are all CronFederatedHPAs of its namespace; Target is what the object sets, if it is one of these.
	Rules  []*v1alpha1.CronFederatedHPA
	Target cronplan.Target
	Now    time.Time
}

// detailOf is the page about an autoscaler, without its Events.
func detailOf(k known) detail {
	past := k.Recorded
	var over *sizesOver
	if past != nil && past.sizesSpec != nil { // which has no replicas
		past, over = nil, sizesOverOf(past, k.Now)
	}
	points, gaps := joined(past, k.Points, k.Now)
	d := detail{
		row: rowOf(k.Object, k.Now), Now: k.Now.UnixMilli(), Series: seriesOf(points, k.Now), Recorded: k.Recorded,
		Coming: comingOf(k), SizesOver: over,
		Conditions: []condition{}, Clusters: []cluster{}, Metrics: []metric{}, Events: []said{},
	}
	d.Series.Unknown = together(d.Series.Unknown, gaps)
	text, err := explain.Text(k.Object, k.Target, k.Now)
	if err != nil {
		text = err.Error()
	}
	d.Explanation = strings.TrimRight(text, "\n")
	switch o := k.Object.(type) {
	case *v1alpha1.FederatedHPA:
		for i := range o.Status.Conditions {
			c := &o.Status.Conditions[i]
			d.Conditions = append(d.Conditions, condition{string(c.Type), string(c.Status), c.Reason, c.Message, millis(&c.LastTransitionTime)})
		}
		if e := o.Status.Explanation; e != nil {
			d.Limit = explain.Because(e.LimitedBy)
		}
		d.Clusters, d.Metrics = clustersOf(o), metricsOf(o.Spec.Metrics, o.Status.CurrentMetrics)
	case *v1alpha1.MultidimPodAutoscaler:
		d.Conditions = conditionsOf(o.Status.Conditions)
		d.Clusters, d.Sizes = sizedClusters(o), sizesOf(o)
		if o.Spec.Goals != nil {
			d.Metrics = metricsOf(o.Spec.Goals.Metrics, o.Status.CurrentMetrics)
		}
	case *v1alpha1.CronFederatedHPA:
		d.Conditions = conditionsOf(o.Status.Conditions)
	}
	return d
}

func conditionsOf(conditions []metav1.Condition) []condition {
	all := make([]condition, 0, len(conditions))
	for i := range conditions {
		c := &conditions[i]
		all = append(all, condition{c.Type, string(c.Status), c.Reason, c.Message, millis(&c.LastTransitionTime)})
	}
	return all
}

// saidOf is an Event of either API: the newer one keeps times and counts elsewhere.
func saidOf(e *corev1.Event) said {
	s := said{Count: max(e.Count, 1), Warning: e.Type == corev1.EventTypeWarning, Reason: e.Reason, Note: e.Message}
	s.First, s.At = millis(&e.FirstTimestamp), millis(&e.LastTimestamp)
	if s.First == 0 {
		s.First = e.EventTime.UnixMilli()
	}
	if e.EventTime.IsZero() && s.At == 0 {
		s.First = millis(&e.CreationTimestamp)
	}
	if e.Series != nil {
		s.Count, s.At = max(e.Series.Count, 1), e.Series.LastObservedTime.UnixMilli()
	}
	s.At = max(s.At, s.First)
	return s
}

// plural is that of a kind, as people say it.
func (k kind) plural() string { return fmt.Sprintf("%ss", k.name) }

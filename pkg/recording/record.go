// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"cmp"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Object is whose decisions are recorded.
type Object struct {
	Namespace, Name string
	// UID tells it from another one of the same name.
	UID string
	// Kind is of what its decisions are.
	Kind Kind
}

// Whose is whose decisions they are, whichever of its decisions: a FederatedHPA's are of the kind [Replicas] then, and a
// MultidimPodAutoscaler's of [SizesKind].
func (o Object) Whose() Object {
	if o.Kind != SizesKind {
		o.Kind = Replicas
	}
	return o
}

// Type is that of the autoscaler.
func (o Object) Type() string {
	if o.Kind == SizesKind {
		return v1alpha1.MultidimPodAutoscalerKind
	}
	return v1alpha1.FederatedHPAKind
}

// Kind is of what decisions are. It is stored as a number.
type Kind uint64

// The kinds. Who reads a record leaves out those that it does not know.
const (
	Replicas  Kind = iota // of the fleet, in central mode
	Splits                // bounds of clusters, in distributed mode
	SizesKind             // what the containers of a MultidimPodAutoscaler's workload should request
	kinds
)

// Record is of one decision.
type Record struct {
	Object Object
	// Spec is the whole one that was decided by, with its defaults. It may be shared by records, and is not changed.
	Spec *v1alpha1.FederatedHPASpec
	// Question is what the decision is made of, retold; its spec is that of Spec.
	Question replicas.Question
	// Facts are of the question's clusters, in their order: no decision is made of them.
	Facts []Facts
	// Decided are the replicas that were decided on, and Outcome what became of them.
	Decided int32
	Outcome Outcome
	// After are the replicas that the workload was told by then.
	After int32
	// Split is the decision of a record of [Splits]. Of what is above, such a record has the object, the spec, the outcome, and of the
	// question its time and generation.
	Split *Split
	// Sizes is the decision of a record of [SizesKind], of a MultidimPodAutoscaler. Of what is above, such a record has the object, the
	// outcome, and of the question its time and generation; its spec is that of the question in Sizes.
	Sizes *Sizes
}

// Ran returns how many replicas the cluster of that index ran when the decision was made: as many as it said, or else was told, or else
// were Ready there. Nil: that is not known.
func (r *Record) Ran(i int) *int32 {
	c, facts := &r.Question.Clusters[i], Facts{}
	if i < len(r.Facts) {
		facts = r.Facts[i]
	}
	return cmp.Or(c.Replicas, c.Assigned, facts.Ready)
}

// Facts are what is shown of a cluster.
type Facts struct {
	// Ready are the Ready Pods, and Age is of the oldest sample in seconds; nil: not known.
	Ready, Age *int32
}

// Outcome is what became of a decision.
type Outcome int64

// The outcomes. They are stored as numbers.
const (
	Kept     Outcome = iota // the replicas stay
	Scaled                  // they were written, in some clusters at least
	Refused                 // they could not be written
	Observed                // they are only reported
)

// New returns the record of a decision on the question, and of its completion.
func New(object Object, spec *v1alpha1.FederatedHPASpec, q *replicas.Question, d *replicas.Decision) *Record {
	return &Record{Object: object, Spec: spec, Question: d.Retold(q), Decided: d.Replicas, After: q.Scale.Replicas}
}

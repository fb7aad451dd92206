// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"errors"
	"fmt"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

const (
	// patience is how long a run is retried while the hub or the target
	// does not let us. No longer than until the rule's next run, either.
	patience = 10 * time.Minute
	// leastPause and mostPause bound the time between two tries.
	leastPause, mostPause = time.Second, 30 * time.Second
	// leastFollow and mostFollow are the same where all clusters are asked.
	leastFollow, mostFollow = 2 * time.Second, time.Minute
)

// Trouble is why the target cannot be read or set.
type Trouble struct {
	Reason  string
	Message string
}

// Delay is a trouble that keeps runs from being done, and since when.
type Delay struct {
	Trouble
	Since time.Time
}

// follows reports whether the target was set, and clusters have yet to follow.
func (t *Trouble) follows() bool { return t.Reason == reasonNotPropagated }

// Quiet reports whether a delay is no news: that clusters follow takes a moment.
func (d *Delay) Quiet() bool { return d == nil || d.follows() }

// final reports whether a retry is useless.
func (t *Trouble) final() bool {
	return slices.Contains([]string{reasonRefused, reasonAutoscaled, reasonOnHub, tenancy.ReasonNamespaceNotAllowed}, t.Reason)
}

// Nowhere is of a workload that neither the hub nor one of the clusters has that take part.
type Nowhere struct {
	Of    int    // so many clusters there are
	Asked int    // so many of them take part
	Each  string // why, by cluster
}

func (n *Nowhere) Error() string { return "not on the hub, and in no cluster: " + n.Each }

// Unreadable returns what an error means of reading a target.
func Unreadable(ref autoscalingv2.CrossVersionObjectReference, err error) *Trouble {
	var nowhere *Nowhere
	switch {
	case errors.As(err, &nowhere) && nowhere.Asked == 0:
		return &Trouble{Reason: reasonNotFound, Message: fmt.Sprintf("there is no %s %q in the namespace on the hub, and none of the %d "+
			"clusters takes part: correct clusterAffinity and replicaDistribution, or whatever places the workload", ref.Kind, ref.Name,
			nowhere.Of)}
	case errors.As(err, &nowhere):
		return &Trouble{Reason: reasonNotFound, Message: fmt.Sprintf("there is no %s %q in the namespace on the hub, and none of "+
			"the %d clusters can scale it: %s", ref.Kind, ref.Name, nowhere.Asked, nowhere.Each)}
	case meta.IsNoMatchError(err):
		return &Trouble{Reason: reasonNotFound, Message: fmt.Sprintf("the hub does not serve kind %s of %s", ref.Kind, ref.APIVersion)}
	case apierrors.IsNotFound(err):
		message := fmt.Sprintf("there is no %s %q in the namespace, or it cannot be scaled", ref.Kind, ref.Name)
		return &Trouble{Reason: reasonNotFound, Message: message}
	}
	return &Trouble{Reason: reasonUnreachable, Message: fmt.Sprintf("reading %s %q: %v", ref.Kind, ref.Name, err)}
}

// DividedByOthers is of a workload on the hub whose replicas the object wants divided among the clusters.
func DividedByOthers(ref autoscalingv2.CrossVersionObjectReference) *Trouble {
	return &Trouble{Reason: reasonOnHub, Message: fmt.Sprintf("%s %q is on the hub, where whoever propagates it divides its replicas: remove "+
		"spec.replicaDistribution, or delete the workload on the hub; or make a FederatedHPA with replicaDistribution, and name that in "+
		"scaleTargetRef", ref.Kind, ref.Name)}
}

// Unsettable returns what an error means of setting a target.
func Unsettable(ref autoscalingv2.CrossVersionObjectReference, err error) *Trouble {
	reason := reasonNotSet
	switch {
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err), apierrors.IsMethodNotSupported(err):
		reason = reasonRefused
	case apierrors.IsNotFound(err):
		return Unreadable(ref, err)
	}
	return &Trouble{Reason: reason, Message: fmt.Sprintf("setting %s %q: %v", ref.Kind, ref.Name, err)}
}

// hindrance returns why no run can be done now, or nil. A trouble lasts since
// another was first met, if none of the tries in between did any better.
func (in *Situation) hindrance() *Delay {
	switch {
	case !Allowed(in.Object):
		return &Delay{Trouble{tenancy.ReasonNamespaceNotAllowed, tenancy.Refusal(in.Object.Namespace)}, in.Now}
	case in.Target.ScaledBy != "":
		return &Delay{Trouble{reasonAutoscaled, in.Target.ScaledBy}, in.Now}
	case in.Target.ScaledThere != "":
		return &Delay{Trouble{reasonAutoscaled, in.Target.ScaledThere}, in.Now}
	case in.Target.Trouble == nil:
		return nil
	case in.Delay != nil && in.Delay.follows() == in.Target.Trouble.follows():
		return &Delay{*in.Target.Trouble, in.Delay.Since}
	}
	return &Delay{*in.Target.Trouble, in.Now}
}

// hold keeps the runs for a later try, and gives up those that have been tried
// for long enough. It returns when to try again, or zero.
func (in *Situation) hold(runs []run, d *Delay) (again time.Time) {
	for _, r := range runs {
		deadline, pause := r.deadline(d.Since), min(max(in.Now.Sub(d.Since)/2, leastPause), mostPause)
		if d.follows() {
			deadline, pause = r.follows(d.Since, in.Grace), min(max(in.Now.Sub(d.Since), leastFollow), mostFollow)
		}
		if d.final() || !in.Now.Before(deadline) {
			r.of.close(Record{Result: Failed, At: r.at, Message: d.Message}, in.Now)
			continue
		}
		again = earliest(again, earliest(in.Now.Add(pause), deadline))
	}
	return again
}

// deadline returns when a run is given up that is delayed since some time, which may
// be before the run was due.
func (r run) deadline(since time.Time) time.Time {
	deadline := earliest(latest(since, r.at).Add(patience), r.of.rule.Schedule.Next(r.at))
	if limit := r.of.rule.tardiness(); limit > 0 {
		deadline = earliest(deadline, r.at.Add(limit))
	}
	return deadline
}

// follows returns when a run is given up that no cluster follows since some time: after the grace, but not before whoever propagates
// the workload had a minute. That it began in time is enough.
func (r run) follows(since time.Time, grace time.Duration) time.Time {
	return earliest(since.Add(max(grace, mostFollow)), r.of.rule.Schedule.Next(r.at))
}

// earliest is the earlier of two times that are not zero.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

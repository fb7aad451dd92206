// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"time"
	"unique"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// SizedListing is a [Listing] with what each Pod requests and limits, and its OOM kills.
type SizedListing struct {
	// Pods are in order of their names.
	Pods []SizedPod
	// Known, Silent and AsOf are as in a [Listing].
	Known  bool
	Silent *fleet.Silence
	AsOf   time.Time
}

// SizedPod is a Pod with its sizes, and what becomes of them.
type SizedPod struct {
	replicas.Pod

	// UID is empty if it is not a UUID, as API servers give it.
	UID types.UID
	// Created is when the Pod was created, by the cluster's clock, in whole seconds; zero if it does not say.
	Created time.Time
	// Node is empty if the Pod has none, or has ended.
	Node string
	// Class is empty if its status does not say.
	Class corev1.PodQOSClass
	// Static is true for a Pod that no API server resizes: a static one, or one of Windows.
	Static bool
	// Revision is that of the template that the Pod was made of, by the label that Deployments, StatefulSets and DaemonSets give their
	// Pods; empty if it has none.
	Revision string
	// SizedBy is the Pod's [v1alpha1.SizedByAnnotation]: by what it was sized when it was created. It is empty if by nothing.
	SizedBy string
	// Containers are those of the Pod's spec in their order, as it was last asked to be resized, without those that initialize it.
	// Pods share them: do not write to them.
	Containers []Container
	// Resizable is false if the Pod's node cannot resize it, as API servers know it: a container runs, and its status does not
	// tell what resources it has.
	Resizable bool
	// Resize is what became of the last resize.
	Resize Resize
	// Actual is what the containers have, by their statuses, in the order of Containers. Nil: what their specs say, as far as it
	// is told. What the status of a container does not tell is None.
	Actual []Container
	// OOMKills are at most one of each container.
	OOMKills []OOMKill
}

// AskSized answers as Ask does, from the same records.
func (s *Store) AskSized(ctx context.Context, m mirror.Member, namespace string, selector labels.Selector) SizedListing {
	return sizedListingOf(s.mirror.Ask(ctx, m, namespace), selector)
}

func sizedListingOf(a mirror.Answer[*Record], selector labels.Selector) SizedListing {
	l := SizedListing{Known: a.Known, Silent: a.Silence, AsOf: a.AsOf}
	chosen, n := runs(a.Objects, selector)
	if n == 0 {
		return l
	}
	l.Pods = make([]SizedPod, 0, n)
	var last unique.Handle[template]
	var common SizedPod // of the Pods of the last
	for _, run := range chosen {
		for _, r := range run {
			if r.template != last {
				last, common = r.template, r.template.Value().sized()
			}
			l.Pods = append(l.Pods, r.sized(common))
		}
	}
	return l
}

// sized is what Pods of the template have in common.
func (t template) sized() SizedPod {
	p, requests := t.sizes.sized(), t.requests
	p.Requests, p.Revision = &requests, t.revision()
	return p
}

func (t template) revision() string {
	for _, label := range []string{appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey} {
		if value, found := t.room.Labels.Lookup(label); found {
			return value
		}
	}
	return ""
}

func (r *Record) sized(common SizedPod) SizedPod {
	p, kept := common, r.rarely()
	p.Pod = r.pod(common.Requests)
	p.UID, p.Created, p.Resizable = r.uid.text(), r.created.time(), r.resizable
	if r.node != (unique.Handle[string]{}) {
		p.Node = r.node.Value()
	}
	p.Resize = Resize{State: kept.resize.state, Since: kept.resize.since.time(), Observed: r.observed}
	p.Actual = actualIn(kept.actual, p.Containers)
	p.OOMKills = oomKillsIn(kept.oomKills, p.Containers)
	return p
}

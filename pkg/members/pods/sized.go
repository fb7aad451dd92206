// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

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

// SizedPod is a Pod with its sizes.
type SizedPod struct {
	replicas.Pod

	// Node is empty if the Pod has none, or has ended.
	Node string
	// Class is empty if its status does not say.
	Class corev1.PodQOSClass
	// Containers are those of the Pod's spec in their order, as they were last resized, without those that initialize it.
	// Pods share them: do not write to them.
	Containers []Container
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
	requests := t.requests
	return SizedPod{Pod: replicas.Pod{Requests: &requests}, Class: t.sizes.class(), Containers: t.sizes.containers()}
}

func (r *Record) sized(common SizedPod) SizedPod {
	p := common
	p.Pod = r.pod(common.Requests)
	if r.node != (unique.Handle[string]{}) {
		p.Node = r.node.Value()
	}
	p.OOMKills = r.oomKillsIn(p.Containers)
	return p
}

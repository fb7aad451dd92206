// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/compact"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Listing is what is known of the Pods that a selector matches in one namespace of a member.
type Listing struct {
	// Pods are in order of their names.
	Pods []replicas.Pod
	// Known is false when Pods say nothing: they were never listed, or so long ago that it means nothing.
	Known bool
	// Silent is why the Pods cannot be seen now; then they are as they were last. Nil: they are seen.
	Silent *fleet.Silence
	// AsOf is the time up to which Pods are right; zero if not Known.
	AsOf time.Time
	// Unschedulable is how many of them the scheduler found no node for; those being deleted are left out.
	Unschedulable int
	// UnschedulableSince is when the first of these was found so; zero if there is none.
	UnschedulableSince time.Time
}

// Ready is the number of Pods that run and are Ready.
func (l Listing) Ready() int {
	n := 0
	for i := range l.Pods {
		if p := &l.Pods[i]; p.Phase == corev1.PodRunning && p.Ready.Status == corev1.ConditionTrue {
			n++
		}
	}
	return n
}

func listingOf(a mirror.Answer[*Record], selector labels.Selector) Listing {
	l := Listing{Known: a.Known, Silent: a.Silence, AsOf: a.AsOf}
	chosen, n := runs(a.Objects, selector)
	if n == 0 {
		return l
	}
	l.Pods = make([]replicas.Pod, 0, n)
	var last unique.Handle[template]
	var requests *replicas.Requests // of the last
	for _, run := range chosen {
		for _, r := range run {
			if requests == nil || r.template != last {
				last, requests = r.template, new(r.template.Value().requests)
			}
			l.add(r, requests)
		}
	}
	return l
}

// runs are the records that the selector matches, in pieces of the list, and how many there are: those of one workload
// stand together, as a rule.
func runs(records []*Record, selector labels.Selector) (all [][]*Record, n int) {
	chosen := choice{selector: selector, known: map[unique.Handle[template]]bool{}}
	begin := -1 // of the run that continues; none
	for i, r := range records {
		switch has := chosen.has(r); {
		case has && begin < 0:
			begin = i
		case !has && begin >= 0:
			all, begin = append(all, records[begin:i]), -1
		}
		if begin >= 0 {
			n++
		}
	}
	if begin >= 0 {
		all = append(all, records[begin:])
	}
	return all, n
}

func (l *Listing) add(r *Record, requests *replicas.Requests) {
	l.Pods = append(l.Pods, r.pod(requests))
	if !r.unschedulable() {
		return
	}
	l.Unschedulable++
	if since := r.rarely().unschedulableSince.time(); l.UnschedulableSince.IsZero() || since.Before(l.UnschedulableSince) {
		l.UnschedulableSince = since
	}
}

// choice evaluates the labels of each template once. Pods of one template stand
// together, as a rule.
type choice struct {
	selector labels.Selector
	known    map[unique.Handle[template]]bool
	last     unique.Handle[template] // that was evaluated for another Pod
	chosen   bool                    // of last

	labels compact.Named // that are being evaluated
}

func (c *choice) has(r *Record) bool {
	if r.template == c.last {
		return c.chosen
	}
	chosen, known := c.known[r.template]
	if !known {
		labels := r.template.Value().room.Labels.Labels
		chosen = c.matches(labels, r.name)
		if labels.Personal() {
			return chosen
		}
		c.known[r.template] = chosen
	}
	c.last, c.chosen = r.template, chosen
	return chosen
}

func (c *choice) matches(labels compact.Labels, name string) bool {
	c.labels = compact.Named{Labels: labels, Name: name}
	return c.selector.Matches(&c.labels)
}

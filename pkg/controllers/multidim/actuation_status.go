// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	"github.com/fleetscale/fleetscale/pkg/sizes"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// trouble is why Pods of a cluster do not come to their sizes there, or not all; empty if they do, or are not to.
func (p *plan) trouble(c *cluster) (reason, message string) {
	if !p.acts() {
		return "", ""
	}
	silence := cmp.Or(c.silent(), c.entries.Silence, c.unclaimed)
	switch last := c.memory.failure; {
	case last.reason != "" && p.Now.Sub(last.at) < toldFor:
		return last.reason, last.message
	case silence != nil:
		return string(silence.Reason), silence.Detail
	case !c.can.Known:
		return reasonSizingUnknown, "what it can do about sizes has not been found out yet"
	case len(c.others) > 0:
		return reasonAnotherAutoscaler, claims.InTheWay(c.others)
	case c.unshared != "":
		return reasonUnshared, c.unshared
	case c.unlabelled:
		return reasonUnlabelled, fmt.Sprintf("new Pods cannot be told by their labels, of which there are none or more than %d", mostLabels)
	case c.can.Known && c.can.Reason != "" && (c.mode != sizes.ModeInPlace || !c.can.Resizes):
		return string(c.can.Reason), c.can.Message
	case c.admission == v1alpha1.AdmissionIneffective:
		return reasonIneffective, "new Pods are created without their size, though all is installed: no Pod is evicted until that changes; see " +
			"whether something else writes their requests, and whether failures of the policy sizes.fleetscale.io are counted"
	}
	return "", ""
}

// remember keeps what did not work.
func (c *cluster) remember(now time.Time) {
	reason, message := c.failed()
	if reason == "" {
		return
	}
	if last := c.memory.failure; last.reason == reason && now.Sub(last.at) < toldFor {
		message = last.message // or the status would be written whenever it is of another Pod
	}
	c.memory.failure = failure{reason, message, now}
}

// failed is the first thing that did not work.
func (c *cluster) failed() (reason, message string) {
	if c.giveErr != nil {
		switch refused := refusedBy(c.giveErr); {
		case refused != nil && refused.Why == sizing.RefusedTooMany:
			return reasonTooManyInShop, "the namespace has sizes of as many workloads as it may: " + refused.Message
		case refused != nil:
			return string(refused.Why), c.giveErr.Error()
		}
		return reasonNotGiven, c.giveErr.Error()
	}
	for _, o := range c.sent {
		switch refused := refusedBy(o.err); {
		case o.err == nil, refused != nil && (refused.Why == sizing.RefusedGone || refused.Why == sizing.RefusedBudget):
		case refused != nil:
			return string(refused.Why), o.err.Error()
		default:
			return reasonNotMoved, o.err.Error()
		}
	}
	return "", ""
}

// reportActuation says how the Pods of a cluster come to their sizes.
func (p *plan) reportActuation(s *v1alpha1.MultidimClusterStatus, c *cluster) {
	s.Admission, s.Resizing, s.Deferred, s.Infeasible, s.EvictedLastHour = "", nil, nil, nil, nil
	if !p.acts() {
		return
	}
	s.Admission = c.admission
	s.Resizing, s.Deferred, s.Infeasible = new(c.resizing), new(c.deferred), new(c.infeasible)
	s.EvictedLastHour = new(c.memory.lately(p.Now))
}

// actuating is whether Pods are given their sizes in all clusters.
func (p *plan) actuating() condition {
	c := condition{kind: v1alpha1.MultidimVerticalActuation}
	var troubled []string
	for i := range p.clusters {
		if reason, message := p.trouble(&p.clusters[i]); reason != "" {
			troubled = append(troubled, fmt.Sprintf("%s: %s: %s", p.clusters[i].name, reason, message))
		}
	}
	for i := range p.elsewhere {
		if err := p.elsewhere[i].giveErr; err != nil {
			troubled = append(troubled, fmt.Sprintf("%s: %s: it is not selected, and what new Pods are created with there stays: %v",
				p.elsewhere[i].name, reasonNotGiven, err))
		}
	}
	switch {
	case !p.Object.Spec.Policy.Acts():
		c.reason, c.message, c.quiet = reasonUpdateModeOff, "policy.updateMode is Off: sizes are only reported", true
	case tenancy.Reserved(p.Object.Namespace):
		c.reason, c.message = tenancy.ReasonNamespaceNotAllowed, tenancy.Refusal(p.Object.Namespace)
	case !p.decides():
		c.reason, c.message = string(p.Object.Spec.Mode), fmt.Sprintf("spec.mode is %s: no Pod is changed", p.Object.Spec.Mode)
	case len(p.claims) > 0, len(p.sizers) > 0, p.stranger():
		c.reason, c.message = reasonAnotherAutoscaler, "no Pod is changed while the workload belongs to another: see ConfigUnsupported"
	case !p.mayMove():
		c.reason, c.message = reasonNotRecommended, "no running Pod is changed while nothing is recommended from what Pods use now: see "+
			v1alpha1.MultidimRecommendationProvided
	case !p.active():
		c.reason, c.message = string(p.Object.Spec.Mode), strings.Join(append([]string{p.observed()}, troubled...), "; ")
	case len(troubled) > 0:
		c.reason, c.message = reasonOf(troubled[0]), strings.Join(troubled, "; ")
	default:
		c.is, c.reason, c.message = true, reasonActuating, fmt.Sprintf("Pods get the recommended sizes: %s", p.Object.Spec.Policy.UpdateMode)
	}
	return c
}

// observed says what would be done now.
func (p *plan) observed() string {
	resized, evicted := 0, 0
	for i := range p.clusters {
		for _, move := range p.clusters[i].moves {
			if move.Way == sizes.WayEvict {
				evicted++
			} else {
				resized++
			}
		}
	}
	return fmt.Sprintf("spec.mode is Observe: no Pod is changed; now, %d would be resized in place, and %d evicted", resized, evicted)
}

// reasonOf is that of one cluster's trouble.
func reasonOf(troubled string) string {
	return strings.SplitN(troubled, ": ", 3)[1]
}

// moved is what the owner is told of Pods that were changed, and of those that could not be.
func (p *plan) moved(before *v1alpha1.MultidimPodAutoscalerStatus) (all []news) {
	for i := range p.clusters {
		c := &p.clusters[i]
		if pods := c.changed(sizes.WayResize, sizes.WayWithdraw); len(pods) > 0 {
			all = append(all, news{corev1.EventTypeNormal, eventResized, told(c.name, pods, "resized in place"), c.name})
		}
		if pods := c.changed(sizes.WayEvict); len(pods) > 0 {
			all = append(all, news{corev1.EventTypeNormal, eventEvicted, told(c.name, pods, "evicted, for new ones of another size"), c.name})
		}
		all = append(all, c.worse(before)...)
	}
	return all
}

func (c *cluster) changed(ways ...sizes.Way) (pods []string) {
	for _, o := range c.sent {
		if o.err == nil && slices.Contains(ways, o.Way) {
			pods = append(pods, o.Pod.Name)
		}
	}
	return pods
}

// mostTold is how many Pods are named.
const mostTold = 3

func told(cluster string, pods []string, what string) string {
	named := strings.Join(pods[:min(len(pods), mostTold)], ", ")
	if more := len(pods) - mostTold; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("cluster %s: %s: %s", cluster, what, named)
}

// worse is what did not stand in the status before.
func (c *cluster) worse(before *v1alpha1.MultidimPodAutoscalerStatus) (all []news) {
	var was v1alpha1.MultidimClusterStatus
	for i := range before.Clusters {
		if before.Clusters[i].Name == c.name {
			was = before.Clusters[i]
		}
	}
	for _, of := range []struct {
		was   *int32
		is    int32
		event string
		what  string
	}{
		{was.Deferred, c.deferred, eventDeferred, "%d Pods wait for room on their nodes to be resized"},
		{was.Infeasible, c.infeasible, eventInfeasible, "the nodes of %d Pods can never give them their size"},
	} {
		if of.is > 0 && (of.was == nil || *of.was < of.is) {
			all = append(all, news{corev1.EventTypeWarning, of.event, fmt.Sprintf("cluster %s: "+of.what, c.name, of.is), c.name})
		}
	}
	if c.admission == v1alpha1.AdmissionIneffective && was.Admission != v1alpha1.AdmissionIneffective {
		all = append(all, news{corev1.EventTypeWarning, eventIneffective,
			fmt.Sprintf("cluster %s: new Pods are created without their size: none is evicted", c.name), c.name})
	}
	return all
}

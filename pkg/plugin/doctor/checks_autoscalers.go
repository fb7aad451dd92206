// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	membersv1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
)

func readable(v *verdict, p *Picture) {
	_, _ = known(v, p.Federated)
	_, _ = known(v, p.Cron)
	_, _ = known(v, p.Multidim)
	for _, u := range p.Unreadable {
		v.add(Finding{Error, "", fmt.Sprintf("%s %s/%s", u.Kind, u.Namespace, u.Name), "the programs that read it do not end, or need more " +
			"memory than they have: " + u.Why, p.kubectl("-n", u.Namespace, "edit", strings.ToLower(u.Kind), u.Name)})
	}
}

const (
	// mostIdle is for how long an autoscaler may be without a status: it gets one with its first reconcile.
	mostIdle = 2 * time.Minute
	// mostDeleting is for how long a deletion may take. It waits for members.
	mostDeleting = 5 * time.Minute
)

// bad is a condition that should not be so.
type bad struct {
	kind     string
	status   corev1.ConditionStatus
	severity Severity
}

// badOf are those of each kind. Of a FederatedHPA FleetVisible is not among them: who is not visible is told by the checks of members.
func badOf(kind string) []bad {
	const no, yes = corev1.ConditionFalse, corev1.ConditionTrue
	switch kind {
	case v1alpha1.FederatedHPAKind:
		return []bad{
			{string(autoscalingv2.AbleToScale), no, Error}, {string(autoscalingv2.ScalingActive), no, Error},
			{string(v1alpha1.Propagated), no, Error}, {string(v1alpha1.MetricNotSupported), yes, Error},
			{string(v1alpha1.PreferenceUnmatched), yes, Warning}, {string(v1alpha1.MaxNotAssignable), yes, Warning},
			{string(v1alpha1.MinThresholdNotMet), yes, Warning}, {string(v1alpha1.PendingNotMovable), yes, Warning},
		}
	case v1alpha1.CronFederatedHPAKind:
		return []bad{{v1alpha1.CronReady, no, Error}, {v1alpha1.CronTargetFound, no, Error}, {v1alpha1.CronConflicting, yes, Error}}
	}
	return []bad{{v1alpha1.MultidimConfigUnsupported, yes, Error}, {v1alpha1.MultidimGoalHiddenByLimit, yes, Warning}}
}

// subject is what statuses of all kinds have in common.
type subject struct {
	metav1.Object
	kind       string
	observed   *int64
	conditions []metav1.Condition
}

func (s *subject) String() string {
	return fmt.Sprintf("%s %s/%s", s.kind, s.GetNamespace(), s.GetName())
}

func subjects(v *verdict, p *Picture) (all []subject) {
	federated, _ := known(v, p.Federated)
	for _, f := range federated {
		if f.Spec.Mode == v1alpha1.ModePaused {
			continue // its conditions are of before
		}
		var conditions []metav1.Condition
		for _, c := range f.Status.Conditions {
			conditions = append(conditions, metav1.Condition{
				Type: string(c.Type), Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
			})
		}
		all = append(all, subject{f, v1alpha1.FederatedHPAKind, f.Status.ObservedGeneration, conditions})
	}
	cron, _ := known(v, p.Cron)
	for _, c := range cron {
		all = append(all, subject{c, v1alpha1.CronFederatedHPAKind, c.Status.ObservedGeneration, c.Status.Conditions})
	}
	multidim, _ := known(v, p.Multidim)
	for _, m := range multidim {
		all = append(all, subject{m, v1alpha1.MultidimPodAutoscalerKind, m.Status.ObservedGeneration, m.Status.Conditions})
	}
	return all
}

func statuses(v *verdict, p *Picture) {
	for _, s := range subjects(v, p) {
		describe := p.kubectl("-n", s.GetNamespace(), "describe", strings.ToLower(s.kind), s.GetName())
		if at := s.GetDeletionTimestamp(); at != nil {
			if p.Now.Sub(at.Time) > mostDeleting && len(s.GetFinalizers()) > 0 {
				v.add(Finding{Error, "", s.String(), fmt.Sprintf("it was deleted %v ago, and waits for %s",
					p.Now.Sub(at.Time).Round(time.Second), strings.Join(s.GetFinalizers(), ", ")), describe})
			}
			continue
		}
		if s.observed == nil && p.Now.Sub(s.GetCreationTimestamp().Time) > mostIdle {
			v.add(Finding{Error, "", s.String(), "nobody has reconciled it since it was created", p.pods(controllers)})
		}
		for _, c := range s.conditions {
			for _, b := range badOf(s.kind) {
				if c.Type == b.kind && string(c.Status) == string(b.status) && c.Reason != "ScalingDisabled" { // which zero replicas mean
					v.add(Finding{b.severity, "", s.String(), fmt.Sprintf("%s is %s: %s: %s", c.Type, c.Status, c.Reason, c.Message),
						p.repairs(c.Reason, describe)})
				}
			}
		}
	}
	inClusters(v, p)
}

// repairs is the command for what a condition says, if there is one.
func (s *Settings) repairs(reason, otherwise string) string {
	switch reason {
	case "SpecCut":
		return s.kubectl(apply("crds")...)
	case "FailedGetResourceMetric", "FailedGetContainerResourceMetric":
		return s.kubectl("get", "apiservice", "v1beta1.metrics.k8s.io")
	}
	return otherwise
}

// inClusters judges what FederatedHPAs say of clusters that are Ready as members.
func inClusters(v *verdict, p *Picture) {
	federated, _ := known(v, p.Federated)
	members, _ := known(v, p.Members)
	ready := map[string]bool{}
	for i := range members {
		ready[members[i].Name] = members[i].Status.State == membersv1alpha1.MemberReady
	}
	for _, f := range federated {
		for i := range f.Status.Clusters {
			c := &f.Status.Clusters[i]
			refuses := c.Reason == "FailedWrite" || c.State == v1alpha1.ClusterUnreachable && c.Reason == string(fleet.ReasonForbidden)
			if !ready[c.Name] || !refuses && c.State != v1alpha1.ClusterConflict {
				continue
			}
			finding := Finding{Error, c.Name, fmt.Sprintf("%s %s/%s", v1alpha1.FederatedHPAKind, f.Namespace, f.Name),
				fmt.Sprintf("it does not act in the cluster: %s: %s: %s", c.State, c.Reason, c.Message),
				p.member(c.Name, "-n", f.Namespace, "get", "hpa", "--show-labels")}
			if refuses {
				finding.Fix = p.member(c.Name, apply("member-write")...)
			}
			v.add(finding)
		}
	}
}

func sizes(v *verdict, p *Picture) {
	multidim, ok := known(v, p.Multidim)
	if !ok {
		return
	}
	for _, m := range multidim {
		for i := range m.Status.Clusters {
			c := &m.Status.Clusters[i]
			f := Finding{Error, c.Name, fmt.Sprintf("%s %s/%s", v1alpha1.MultidimPodAutoscalerKind, m.Namespace, m.Name), "", ""}
			switch c.Admission {
			case v1alpha1.AdmissionMissing:
				f.What = "new Pods do not get their size: deploy/member-sizes is not installed there, or not whole"
				f.Fix = p.member(c.Name, apply("member-sizes")...)
			case v1alpha1.AdmissionIneffective:
				f.What = "deploy/member-sizes is installed there, and yet new Pods do not get their size"
				f.Fix = p.member(c.Name, "-n", m.Namespace, "get", "podsizes,mutatingadmissionpolicies", "-o", "yaml")
			default:
				continue
			}
			v.add(f)
		}
	}
}

// leftovers finds autoscalers in members whose owner is gone. Where the person has a context for a member, that itself is asked.
func leftovers(v *verdict, p *Picture) {
	if events, ok := known(v, p.LeftBehind); ok {
		for i := range events {
			e := &events[i]
			v.add(Finding{Warning, "", fmt.Sprintf("%s %s/%s", e.InvolvedObject.Kind, e.InvolvedObject.Namespace, e.InvolvedObject.Name),
				e.Message, p.kubectl("get", "members")})
		}
	}
	if len(p.Visited) == 0 {
		v.skipped = visiting
		return
	}
	federated, ok := known(v, p.Federated)
	if !ok {
		return
	}
	owners := map[string]bool{}
	for _, f := range federated {
		owners[string(f.UID)] = true
	}
	for i := range p.Visited {
		visit := &p.Visited[i]
		managed, ok := known(v, visit.Managed)
		if !ok {
			continue
		}
		p.leftIn(v, visit.Cluster, slices.DeleteFunc(slices.Clone(managed), func(hpa metav1.PartialObjectMetadata) bool {
			return owners[hpa.Labels[v1alpha1.ManagedByLabel]] || !p.mayBeOurs(&hpa)
		}))
	}
}

// mostLeft bounds how many autoscalers are named that a member has without an owner; the others are counted.
const mostLeft = 20

// leftIn tells of those of one member. Its API server may say anything: what is no name is not repeated in a command.
func (p *Picture) leftIn(v *verdict, cluster string, left []metav1.PartialObjectMetadata) {
	list := p.member(cluster, "get", "hpa", "-A", "-l", v1alpha1.ManagedByLabel)
	named := slices.DeleteFunc(slices.Clone(left), func(hpa metav1.PartialObjectMetadata) bool {
		return len(validation.IsDNS1123Label(hpa.Namespace)) > 0 || len(validation.IsDNS1123Subdomain(hpa.Name)) > 0
	})
	for i := range named[:min(len(named), mostLeft)] {
		hpa := &named[i]
		v.add(Finding{Warning, cluster, fmt.Sprintf("HorizontalPodAutoscaler %s/%s", hpa.Namespace, hpa.Name), "it scales with the " +
			"bounds that it has, and the FederatedHPA that it was made for is not on the hub: delete it, or make it nobody's",
			p.member(cluster, "-n", hpa.Namespace, "label", "hpa", hpa.Name, v1alpha1.ManagedByLabel+"-")})
	}
	if more := len(named) - mostLeft; more > 0 {
		v.add(Finding{Warning, cluster, "", fleet.Counted(more, "more HorizontalPodAutoscaler") + " of no FederatedHPA on the hub", list})
	}
	if wrong := len(left) - len(named); wrong > 0 {
		v.add(Finding{Warning, cluster, "", "it tells of " + fleet.Counted(wrong, "HorizontalPodAutoscaler") + " with a name or namespace that " +
			"no API server takes: find out who answers for it", list})
	}
}

// mayBeOurs: another hub than this one does not see to the autoscaler.
func (p *Picture) mayBeOurs(hpa *metav1.PartialObjectMetadata) bool {
	hub := hpa.Annotations[v1alpha1.RemovedByAnnotation]
	return hub == "" || p.HubID == "" || hub == string(p.HubID)
}

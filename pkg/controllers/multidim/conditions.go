// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/summary"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Reasons of conditions.
const (
	reasonRecommended       = "Recommended"
	reasonHeld              = "Held"
	reasonLearning          = "Learning"
	reasonNothingSized      = "NothingSized"
	reasonNoClusters        = "NoClusters"
	reasonInvalidSpec       = "InvalidSpec"
	reasonTargetNotFound    = "TargetNotFound"
	reasonNoHistory         = "HistoryUnavailable"
	reasonUnmeasured        = "MetricsUnavailable"
	reasonRefused           = "RecommendationRefused"
	reasonStale             = "RecommendationStale"
	reasonAnotherAutoscaler = "AnotherAutoscaler"
	reasonShortHistory      = "ShortHistory"
	reasonLongHistory       = "LongHistory"
	reasonSupported         = "Supported"
	reasonNotTheOwner       = "NotTheOwner"
	reasonNotWritten        = "FederatedHPANotWritten"
	reasonLimitsSuffice     = "LimitsSuffice"
	reasonClustersUnknown   = "ClustersUnknown"
	reasonTooMany           = "TooManyRecommendations"
	reasonActuating         = "Actuating"
	reasonUpdateModeOff     = "UpdateModeOff"
	reasonNotRecommended    = "NothingRecommended"
	reasonIneffective       = "AdmissionIneffective"
	reasonSizingUnknown     = "SizingUnknown"
	reasonUnshared          = "TemplateNotShared"
	reasonUnlabelled        = "PodsUnlabelled"
	reasonTooManyInShop     = "TooManyInNamespace"
	reasonNotGiven          = "SizesNotWritten"
	reasonNotMoved          = "PodsNotChanged"
)

const (
	// staleAfter is how old a recommendation becomes before it is said to be.
	staleAfter = 10 * time.Minute
	// confidentAfter is how much history is enough.
	confidentAfter = 24 * time.Hour
)

var errStale = errors.New("the recommendation is old")

// condition is one that a status should have.
type condition struct {
	kind            string
	is              bool
	reason, message string
	// quiet: it is as it should be, and left out where it always was.
	quiet bool
}

// conditions are those of the status; what they say of sizes rests on what it says.
func (p *plan) conditions(s *v1alpha1.MultidimPodAutoscalerStatus) []metav1.Condition {
	all := s.Conditions
	list := []condition{p.acting(), p.unsupported(), p.actuating()}
	if p.decides() {
		list = append(list, p.provided(s))
		if p.template != nil {
			list = append(list, p.hidden())
		}
		if recommender(p.Object) == "" && p.advice != nil {
			list = append(list, p.unsure())
		}
	}
	for _, c := range list {
		status := metav1.ConditionFalse
		if c.quiet && meta.FindStatusCondition(all, c.kind) == nil {
			continue
		}
		if c.is {
			status = metav1.ConditionTrue
		}
		set(&all, metav1.Condition{Type: c.kind, Status: status, Reason: c.reason, Message: c.message}, p)
	}
	if recommender(p.Object) != "" {
		meta.RemoveStatusCondition(&all, v1alpha1.MultidimLowConfidence)
	}
	p.passOn(&all)
	return all
}

func set(all *[]metav1.Condition, c metav1.Condition, p *plan) {
	c.ObservedGeneration = p.Object.Generation
	c.LastTransitionTime = metav1.Time{Time: p.Now}
	c.Message = summary.Brief(c.Message, summary.LongestMessage)
	meta.SetStatusCondition(all, c)
}

// passedOn are the conditions that are those of the FederatedHPA.
var passedOn = []autoscalingv2.HorizontalPodAutoscalerConditionType{
	autoscalingv2.AbleToScale, autoscalingv2.ScalingActive, autoscalingv2.ScalingLimited,
}

// reasons are those that a condition of ours may have; a HorizontalPodAutoscaler's may have any.
var reasons = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

func (p *plan) passOn(all *[]metav1.Condition) {
	ours := p.owns()
	for _, kind := range passedOn {
		if !ours {
			meta.RemoveStatusCondition(all, string(kind))
			continue
		}
		for _, c := range p.child.Status.Conditions {
			if c.Type == kind && reasons.MatchString(c.Reason) && len(c.Reason) <= summary.LongestReason {
				set(all, metav1.Condition{Type: string(kind), Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message}, p)
			}
		}
	}
}

func (p *plan) acting() condition {
	switch p.Object.Spec.Mode {
	case v1alpha1.ModeObserve:
		return condition{kind: v1alpha1.MultidimActing, reason: string(v1alpha1.ModeObserve),
			message: "spec.mode is Observe: no workload is written"}
	case v1alpha1.ModePaused:
		return condition{kind: v1alpha1.MultidimActing, reason: string(v1alpha1.ModePaused), message: "spec.mode is Paused: nothing is decided"}
	}
	return condition{v1alpha1.MultidimActing, true, string(v1alpha1.ModeActive), "what is decided is carried out", true}
}

// provided is whether there is a recommendation.
func (p *plan) provided(s *v1alpha1.MultidimPodAutoscalerStatus) condition {
	c := condition{kind: v1alpha1.MultidimRecommendationProvided}
	if c.reason, c.message = p.obstacle(); c.reason == "" {
		c.reason, c.message = p.lacking(s.Recommendation)
	}
	if c.is = c.reason == ""; !c.is {
		return c
	}
	switch name := recommender(p.Object); {
	case name != "":
		c.reason, c.message = reasonRecommended, fmt.Sprintf("as %q recommends", name)
	case p.held():
		c.reason, c.message = reasonHeld, "nothing becomes less while clusters are silent: "+strings.Join(p.silentNames(), ", ")
	default:
		c.reason, c.message = reasonRecommended, "from what containers used in all clusters"
	}
	return c
}

// obstacle is why nothing can be recommended; empty if something can.
func (p *plan) obstacle() (reason, message string) {
	var invalid *selection.SpecError
	switch {
	case errors.As(p.unselected, &invalid):
		return reasonInvalidSpec, p.unselected.Error()
	case p.unselected != nil:
		return reasonClustersUnknown, p.unselected.Error()
	case len(p.clusters) == 0:
		return reasonNoClusters, "no registered cluster is selected: compare spec.clusterAffinity with the registrations"
	case p.untold != nil:
		return reasonTargetNotFound, p.untold.Error()
	case errors.Is(p.unlearned, errStale):
		return reasonStale, p.unlearned.Error()
	case p.unlearned != nil && recommender(p.Object) != "":
		return reasonRefused, p.unlearned.Error()
	case p.unlearned != nil:
		return reasonNoHistory, p.unlearned.Error()
	}
	return "", ""
}

// lacking is why there is no recommendation yet, or none of now; empty if there is one.
func (p *plan) lacking(r *v1alpha1.SizeRecommendation) (reason, message string) {
	name := recommender(p.Object)
	switch {
	case name == "" && len(p.advice) == 0:
		return reasonNothingSized, "no container is sized: constraints leave none"
	case r == nil && p.unmeasured != nil:
		return reasonUnmeasured, p.unmeasured.Error()
	case r == nil && name != "":
		return reasonLearning, fmt.Sprintf("%q has not written status.recommendation yet", name)
	case r == nil:
		return reasonLearning, "no use of the workload's containers has been measured yet"
	case r.At != nil && p.Now.Sub(r.At.Time) > staleAfter && p.Now.Sub(p.began) > staleAfter && p.unmeasured != nil:
		return reasonStale, p.unmeasured.Error()
	}
	return "", ""
}

func (in *situation) silentNames() (names []string) {
	for i := range in.clusters {
		if in.clusters[i].silent() != nil {
			names = append(names, in.clusters[i].name)
		}
	}
	return names
}

// unsure is whether little is known of a container.
func (p *plan) unsure() condition {
	c := condition{kind: v1alpha1.MultidimLowConfidence, reason: reasonLongHistory, message: "there is history of a day or more"}
	for _, a := range p.advice {
		known := min(time.Duration(a.Samples)*time.Minute, p.Now.Sub(a.First))
		if a.Samples == 0 {
			known = 0
		}
		if known < confidentAfter {
			c.is, c.reason = true, reasonShortHistory
			c.message = fmt.Sprintf("container %q has been measured for %v of the %v after which little changes", a.Container,
				duration.HumanDuration(known),
				duration.HumanDuration(confidentAfter))
			return c
		}
	}
	return c
}

// unsupported is whether something is in the way of what the spec asks for.
func (p *plan) unsupported() condition {
	c := condition{kind: v1alpha1.MultidimConfigUnsupported, is: true}
	faults := slices.DeleteFunc(slices.Clone(p.goals.Faults), func(f goals.Fault) bool { return f.Reason == goals.HiddenByLimit })
	beside := p.besideOthers()
	var invalid *selection.SpecError
	switch {
	case tenancy.Reserved(p.Object.Namespace):
		c.reason, c.message = tenancy.ReasonNamespaceNotAllowed, tenancy.Refusal(p.Object.Namespace)
	case len(p.claims) > 0:
		c.reason, c.message = reasonAnotherAutoscaler, p.claims[0].AtWork()
	case p.stranger():
		c.reason, c.message = reasonNotTheOwner, fmt.Sprintf("FederatedHPA %q is not this object's: delete it, or give this object another name",
			p.Object.Name)
	case p.childErr != nil && !apierrors.IsConflict(p.childErr): // which comes again at once
		c.reason, c.message = reasonNotWritten, p.childErr.Error()
	case errors.As(p.unselected, &invalid):
		c.reason, c.message = reasonInvalidSpec, p.unselected.Error()
	case len(faults) > 0:
		c.reason, c.message = faults[0].Reason, faults[0].Message
	case len(beside) > 0:
		c.reason, c.message = reasonAnotherAutoscaler, strings.Join(beside, "; ")
	default:
		c.is, c.reason, c.message, c.quiet = false, reasonSupported, "nothing is in the way of what the spec asks for", true
	}
	return c
}

// besideOthers says who governs the workload too, without being in the way of the FederatedHPA.
func (p *plan) besideOthers() (all []string) {
	if len(p.beside) > 0 {
		all = append(all, p.beside[0].AtWork())
	}
	for i := range p.clusters {
		if others := p.clusters[i].others; len(others) > 0 {
			all = append(all, fmt.Sprintf("cluster %s: %s", p.clusters[i].name, claims.InTheWay(others)))
		}
	}
	return all
}

// hidden is whether a limit hides what a goal measures.
func (p *plan) hidden() condition {
	for _, f := range p.goals.Faults {
		if f.Reason == goals.HiddenByLimit {
			return condition{kind: v1alpha1.MultidimGoalHiddenByLimit, is: true, reason: goals.HiddenByLimit, message: f.Message}
		}
	}
	return condition{v1alpha1.MultidimGoalHiddenByLimit, false, reasonLimitsSuffice, "no limit hides what a goal measures", true}
}

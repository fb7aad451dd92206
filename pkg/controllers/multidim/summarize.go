// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

const (
	mebibyte = 1 << 20
	gibibyte = 1 << 30
)

// summarize is the status in a few words.
func (p *plan) summarize(s *v1alpha1.MultidimPodAutoscalerStatus) *v1alpha1.MultidimPodAutoscalerSummary {
	short := &v1alpha1.MultidimPodAutoscalerSummary{Target: workloadOf(p.Object), State: p.state(s)}
	if before := p.Object.Status.Summary; before != nil {
		short.Sized, short.CPU, short.Memory, short.Savings = before.Sized, before.CPU, before.Memory, before.Savings
	}
	if p.advice == nil {
		return short // as it was
	}
	short.Sized, short.CPU, short.Memory, short.Savings = "", "", "", ""
	if s.Recommendation == nil {
		return short
	}
	short.Sized = fmt.Sprintf("%d/%d", p.sized.fitting, p.sized.pods)
	short.CPU, short.Memory = p.change(sizes.CPU), p.change(sizes.Memory)
	short.Savings = inWords(p.sized.savings, p.sized.priced)
	return short
}

// change is what a Pod requests, and should.
func (p *plan) change(r sizes.Resource) string {
	if p.sized.pods == 0 {
		return ""
	}
	from, to := p.sized.savings.Requested[r]/int64(p.sized.pods), p.sized.savings.Advised[r]/int64(p.sized.pods)
	return short(r, from) + " -> " + short(r, to)
}

// short is an amount with few digits: of memory whole mebibytes.
func short(r sizes.Resource, amount int64) string {
	if r == sizes.CPU {
		return resource.NewMilliQuantity(amount, resource.DecimalSI).String()
	}
	whole := (amount + mebibyte/2) / mebibyte
	return resource.NewQuantity(whole*mebibyte, resource.BinarySI).String()
}

func inWords(s sizes.Savings, priced bool) string {
	less := s.Less()
	words := []string{
		strconv.FormatFloat(float64(less[sizes.CPU])/1000, 'f', -1, 64) + " cpu",
		strconv.FormatFloat(math.Round(float64(less[sizes.Memory])/gibibyte*10)/10, 'f', -1, 64) + "Gi",
	}
	if priced {
		words = append(words, fmt.Sprintf("%.2f/h", s.Money))
	}
	return strings.Join(words, ", ")
}

// state is what the object is doing, in one word.
func (p *plan) state(s *v1alpha1.MultidimPodAutoscalerStatus) v1alpha1.MultidimPodAutoscalerState {
	provided := meta.FindStatusCondition(s.Conditions, v1alpha1.MultidimRecommendationProvided)
	switch {
	case p.Object.Spec.Mode == v1alpha1.ModePaused:
		return v1alpha1.MultidimPaused
	case p.fails(s.Conditions):
		return v1alpha1.MultidimFailing
	case p.Object.Spec.Mode == v1alpha1.ModeObserve:
		return v1alpha1.MultidimObserving
	case provided == nil || provided.Reason == reasonLearning:
		return v1alpha1.MultidimLearning
	case provided.Reason == reasonHeld:
		return v1alpha1.MultidimHeld
	}
	return v1alpha1.MultidimActive
}

// fails reports whether what the spec asks for cannot be done. Another autoscaler is no obstacle to mere advice, and nothing to
// advise on is none where there are goals.
func (p *plan) fails(conditions []metav1.Condition) bool {
	if c := meta.FindStatusCondition(conditions, v1alpha1.MultidimConfigUnsupported); c != nil && c.Status == metav1.ConditionTrue &&
		(p.Object.Spec.Goals != nil || p.Object.Spec.Policy.Acts() || c.Reason != reasonAnotherAutoscaler) {
		return true
	}
	c := meta.FindStatusCondition(conditions, v1alpha1.MultidimRecommendationProvided)
	return c != nil && c.Status == metav1.ConditionFalse && c.Reason != reasonLearning &&
		(p.Object.Spec.Goals == nil || c.Reason != reasonNothingSized)
}

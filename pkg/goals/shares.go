// SPDX-License-Identifier: Apache-2.0

package goals

import (
	"math/bits"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Share is one container's part in the floors. 0: none.
type Share struct {
	// Request is the least that it requests while the Pod reserves what it may use (see [Reserves]).
	Request Amounts
	// Limit is the least that its limit is, at any time: where limits follow requests, a lower one would hide the use that a
	// goal measures.
	Limit Amounts
}

// Shares returns the parts of the template's containers, in their order. A Pod whose containers request their parts requests
// each floor, with what is not sized, and a fifth more if the template does: on a full node a Pod uses what it requests, and the
// fleet grows only if that is clearly more than the goal. The template's proportions are kept. Which container of several uses
// how much is not known: so of a goal for the whole Pod none has a lower limit than it needs alone, or than the template gives it.
func Shares(spec *v1alpha1.MultidimPodAutoscalerSpec, template []Container, floors []Floor) []Share {
	shares := make([]Share, len(template))
	for _, f := range floors {
		var sized []int
		var concerned, all, weight int64 // weight is what those of them request that are sized
		for i, c := range template {
			if f.Container != "" && f.Container != c.Name {
				continue
			}
			request := min(most, c.Requests.of(f.Resource))
			concerned, all = concerned+1, all+request
			if spec.Sized(c.Name, f.Resource) {
				sized, weight = append(sized, i), weight+request
			}
		}
		use := min(most, f.Use)
		clear := min(most, use+(use+4)/5)
		rest := max(0, max(use, min(clear, all))-(all-weight))
		var seen, given int64
		for n, i := range sized {
			part := scaledUp(rest, int64(n)+1, int64(len(sized)))
			if weight > 0 {
				seen += min(most, template[i].Requests.of(f.Resource))
				part = scaledUp(rest, seen, weight)
			}
			limit := clear
			if concerned > 1 {
				limit = min(clear, template[i].Limits.of(f.Resource))
			}
			shares[i].Request.raise(f.Resource, part-given)
			shares[i].Limit.raise(f.Resource, limit)
			given = part
		}
	}
	return shares
}

func (a *Amounts) raise(name corev1.ResourceName, least int64) {
	switch name {
	case corev1.ResourceCPU:
		a.CPU = max(a.CPU, least)
	case corev1.ResourceMemory:
		a.Memory = max(a.Memory, least)
	}
}

// scaledUp is amount*part/whole, rounded up; part is not above whole.
func scaledUp(amount, part, whole int64) int64 {
	high, low := bits.Mul64(uint64(amount), uint64(part))
	quotient, rest := bits.Div64(high, low, uint64(whole))
	if rest > 0 {
		quotient++
	}
	return int64(min(most, quotient))
}

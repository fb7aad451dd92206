// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"errors"
	"net/http"
	"strings"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/summary"
)

// Refused is the error of a cluster that did not do to a Pod, or to the sizes of new ones, what it was asked to, and will not
// if it is asked again at once. An error that is none, as a rule because the cluster is silent, says nothing of that kind.
type Refused struct {
	Why Refusal
	// Right is what our identity lacks in the cluster, such as "patch pods/resize". It is empty unless Why is RefusedRight.
	Right string
	// RetryAfter is when the cluster suggests to ask again; zero: it does not.
	RetryAfter time.Duration
	// Message is what the cluster says, in one line that is not too long.
	Message string

	err error
}

// Refusal is why a cluster refused, in one word.
type Refusal string

// Why clusters refuse.
const (
	// RefusedGone: there is no such Pod any more, or it is another one of that name.
	RefusedGone Refusal = "Gone"
	// RefusedBudget: a PodDisruptionBudget does not allow the eviction.
	RefusedBudget Refusal = "DisruptionBudget"
	// RefusedRight: our identity may not do that.
	RefusedRight Refusal = "Forbidden"
	// RefusedNode: the Pod's node has less than it is to request.
	RefusedNode Refusal = "NodeTooSmall"
	// RefusedQuota: a ResourceQuota has less.
	RefusedQuota Refusal = "QuotaExceeded"
	// RefusedPolicy: another rule of the cluster denies it, such as a LimitRange or a webhook.
	RefusedPolicy Refusal = "Denied"
	// RefusedInvalid: the API server cannot make it so of such a Pod.
	RefusedInvalid Refusal = "Invalid"
	// RefusedTooMany: the namespace has sizes of as many workloads as it may.
	RefusedTooMany Refusal = "TooMany"
	// RefusedTaken: somebody else has written it, and owns it.
	RefusedTaken Refusal = "Taken"
	// RefusedUnserved: the cluster does not serve the API.
	RefusedUnserved Refusal = "NotServed"
)

// longestMessage is so long that quotas and budgets are told whole.
const longestMessage = 300

// Error is what the cluster says, and what it lacks.
func (r *Refused) Error() string {
	if r.Right != "" {
		return "our identity lacks the right to " + r.Right + ": " + r.Message
	}
	return r.Message
}

// Unwrap returns the error of the client.
func (r *Refused) Unwrap() error { return r.err }

// refusedOr is the error as a [Refused], if it is one. The right is what the request needed.
func refusedOr(err error, right string) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err
	}
	s := status.Status()
	why := refusal(&s)
	if why == "" {
		return err
	}
	r := &Refused{Why: why, Message: summary.Brief(strings.Join(strings.Fields(s.Message), " "), longestMessage), err: err}
	if why == RefusedRight {
		r.Right = right
	}
	if after, suggested := apierrors.SuggestsClientDelay(err); suggested && after > 0 {
		r.RetryAfter = min(time.Duration(after)*time.Second, longestRetryAfter)
	}
	return r
}

// longestRetryAfter bounds what a cluster suggests.
const longestRetryAfter = time.Hour

// refusal is empty if the status is none.
func refusal(s *metav1.Status) Refusal {
	switch s.Code {
	case http.StatusUnauthorized:
		return ""
	case http.StatusForbidden:
		return forbidden(s.Message)
	case http.StatusNotFound:
		if caused(s, metav1.CauseTypeUnexpectedServerResponse) {
			return RefusedUnserved
		}
		return RefusedGone
	case http.StatusConflict:
		switch {
		case caused(s, metav1.CauseTypeFieldManagerConflict):
			return RefusedTaken
		case strings.Contains(s.Message, "UID in "):
			return RefusedGone
		}
	case http.StatusUnprocessableEntity:
		return invalid(s)
	case http.StatusTooManyRequests:
		if caused(s, policyv1.DisruptionBudgetCause) {
			return RefusedBudget
		}
	case http.StatusInternalServerError:
		if strings.Contains(s.Message, "more than one PodDisruptionBudget") {
			return RefusedBudget
		}
	}
	return ""
}

// forbidden tells rights from what admission denies, which both have one code and one reason.
func forbidden(message string) Refusal {
	switch {
	case strings.Contains(message, "enough allocatable resources"):
		return RefusedNode
	case strings.Contains(message, "exceeded quota"):
		return RefusedQuota
	case strings.Contains(message, `" cannot `) && strings.Contains(message, ` resource "`):
		return RefusedRight
	}
	return RefusedPolicy
}

// invalid tells what is about another Pod, and about one workload too many, from all else that is not valid.
func invalid(s *metav1.Status) Refusal {
	if s.Details == nil {
		return RefusedInvalid
	}
	for _, cause := range s.Details.Causes {
		switch {
		case cause.Field == "metadata.uid":
			return RefusedGone
		case cause.Type == metav1.CauseType("FieldValueTooMany") && cause.Field == "workloads":
			return RefusedTooMany
		}
	}
	return RefusedInvalid
}

func caused(s *metav1.Status, by metav1.CauseType) bool {
	if s.Details == nil {
		return false
	}
	for _, cause := range s.Details.Causes {
		if cause.Type == by {
			return true
		}
	}
	return false
}

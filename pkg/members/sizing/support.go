// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// Support is what a cluster can do about the sizes of Pods.
type Support struct {
	// Known is false where the rest says nothing, as it was never found out.
	Known bool
	// Silence is why it cannot be found out now, so that the rest is as it was last; nil if it can.
	Silence *fleet.Silence
	// Serves is true if the API server has PodSizes; where it does not, there are none.
	Serves bool
	// Resizes is true if the API server resizes Pods in place.
	Resizes bool
	// Admits is true if the API server gives new Pods the sizes of PodSizes. Policies tells one state of what does that from another.
	Admits   bool
	Policies string
	// Reason is the first thing that it lacks, for one or the other; empty if it lacks nothing. Message is all that it lacks, and what to
	// do about it.
	Reason  Lack
	Message string
}

// Lack is what a cluster lacks, in one word.
type Lack string

// What clusters lack.
const (
	// NoResize: it does not serve pods/resize, as Kubernetes before 1.33.
	NoResize Lack = "ResizeNotServed"
	// NoPodSizes: it does not serve PodSizes.
	NoPodSizes Lack = "PodSizesNotServed"
	// NoPolicies: it does not serve MutatingAdmissionPolicies, as Kubernetes before 1.36.
	NoPolicies Lack = "PoliciesNotServed"
	// NoPolicy: it lacks the policy, or its binding.
	NoPolicy Lack = "PolicyMissing"
	// Forbidden: our identity may not read the policy, or its binding.
	Forbidden Lack = "Forbidden"
)

// remedy is what to do about most of it.
const remedy = ": apply deploy/member-sizes there"

// policyName is that of the MutatingAdmissionPolicy, and of its binding.
const policyName = "sizes.fleetscale.io"

// Support implements [Sizer].
func (s sizer) Support(ctx context.Context) Support {
	known := s.all.supports.of(s.Member, time.Now())
	if silence := s.Silence(); silence != nil {
		last, _, _ := known.get()
		return last.unless(silence)
	}
	return known.ask(ctx, s.find)
}

// find asks the cluster.
func (s sizer) find(ctx context.Context) (Support, error) {
	found := Support{Known: true, Admits: true}
	var err error
	if found.Resizes, err = s.serves(ctx, "/api/v1", "pods/resize"); err != nil {
		return Support{}, err
	}
	if !found.Resizes {
		found.lacks(NoResize, "it does not serve pods/resize: Kubernetes 1.33 and later do")
	}
	served, err := s.serves(ctx, "/apis/"+v1alpha1.SchemeGroupVersion.String(), v1alpha1.PodSizesResource)
	if err != nil {
		return Support{}, err
	}
	if found.Serves = served; !served {
		found.doesNotAdmit(NoPodSizes, "it does not serve "+v1alpha1.PodSizesResource+"."+v1alpha1.GroupName+remedy)
	}
	for _, of := range [][2]string{
		{"mutatingadmissionpolicies", "MutatingAdmissionPolicy"}, {"mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"},
	} {
		if err := s.findPolicy(ctx, &found, of[0], of[1]); err != nil {
			return Support{}, err
		}
	}
	return found, nil
}

// serves reports whether the cluster serves a resource in a version of a group.
func (s sizer) serves(ctx context.Context, version, resource string) (bool, error) {
	answer, err := connection.Answer(ctx, s.Client().Get().AbsPath(version).SetHeader("Accept", "application/json").MaxRetries(0))
	if _, absent := fleet.Classify(err); absent {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading what %s serves: %w", version, err)
	}
	list, err := connection.DecodeKind(ctx, s.Reading(), answer, &metav1.APIResourceList{}, "APIResourceList")
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource }), nil
}

// findPolicy notes which policy there is, or binding of it, or what lacks of it.
func (s sizer) findPolicy(ctx context.Context, found *Support, resource, kind string) error {
	at := connection.At(s.Client().Get(), admissionv1.SchemeGroupVersion.WithResource(resource), "").Name(policyName)
	answer, err := connection.Answer(ctx, at.MaxRetries(0))
	if err == nil {
		policy, err := connection.DecodeKind(ctx, s.Reading(), answer, &metav1.PartialObjectMetadata{}, kind)
		if err == nil {
			found.Policies += fmt.Sprintf("%.36s/%d ", policy.UID, policy.Generation) // a UUID
		}
		return err
	}
	name := resource + "." + admissionv1.GroupName
	var refused *Refused
	if !errors.As(refusedOr(err, "get "+name), &refused) {
		return fmt.Errorf("reading %s %q: %w", name, policyName, err)
	}
	switch refused.Why {
	case RefusedUnserved:
		found.doesNotAdmit(NoPolicies, "it does not serve "+name+": Kubernetes 1.36 and later do")
	case RefusedGone:
		found.doesNotAdmit(NoPolicy, "it has no "+name+" "+policyName+remedy)
	case RefusedRight, RefusedPolicy:
		found.doesNotAdmit(Forbidden, "our identity lacks the right to get "+name+" "+policyName+remedy)
	default:
		return fmt.Errorf("reading %s %q: %w", name, policyName, err)
	}
	return nil
}

func (s *Support) doesNotAdmit(reason Lack, message string) {
	s.Admits = false
	s.lacks(reason, message)
}

func (s *Support) lacks(reason Lack, message string) {
	if s.Reason == "" {
		s.Reason = reason
	}
	s.Message = strings.TrimPrefix(s.Message+"; "+message, "; ")
}

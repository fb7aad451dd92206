// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// reviewTimeout is a part of the time that the hub gives us for an admission.
	reviewTimeout = 2 * time.Second
	// ruleAuthor refuses what its author may not have created. It is no rule of package admission, which asks nobody.
	ruleAuthor = "Author"
	// controllers write FederatedHPAs for authors who were asked: of MultidimPodAutoscalers, and of rules.
	controllers = "system:serviceaccount:fleetscale-system:controller-manager"
)

// Reviewer asks the hub what somebody may do.
type Reviewer interface {
	Create(ctx context.Context, review *authorizationv1.SubjectAccessReview,
		o metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error)
}

// authorFaults refuses an author who may not create the workload on the hub, which is created in clusters in their place. An error
// means that this could not be found out.
func (k *Kinds) authorFaults(ctx context.Context, reviewer Reviewer, author authenticationv1.UserInfo, namespace string,
	target autoscalingv2.CrossVersionObjectReference) (field.ErrorList, error) {
	if reviewer == nil || author.Username == controllers {
		return nil, nil
	}
	resource, err := k.resource(ctx, target)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	review, err := reviewer.Create(ctx, reviewOf(author, namespace, target.Name, resource), metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("asking the hub whether %q may create %s in namespace %q: %w", author.Username, resource.GroupResource(),
			namespace, err)
	}
	if review.Status.Allowed && !review.Status.Denied {
		return nil, nil
	}
	refusal := fmt.Sprintf("%q may not create %s in namespace %q, and this may have one created in every cluster that lacks the workload: "+
		"have it written by somebody who may, or use central mode (without federatedHPAAssignment)", author.Username,
		resource.GroupResource(), namespace)
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "scaleTargetRef"), refusal).WithOrigin(ruleAuthor)}, nil
}

func reviewOf(author authenticationv1.UserInfo, namespace, name string,
	resource schema.GroupVersionResource) *authorizationv1.SubjectAccessReview {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: author.Username, UID: author.UID, Groups: author.Groups,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "create", Namespace: namespace, Group: resource.Group, Version: resource.Version, Resource: resource.Resource, Name: name,
		},
	}}
	for key, values := range author.Extra {
		if review.Spec.Extra == nil {
			review.Spec.Extra = map[string]authorizationv1.ExtraValue{}
		}
		review.Spec.Extra[key] = authorizationv1.ExtraValue(values)
	}
	return review
}

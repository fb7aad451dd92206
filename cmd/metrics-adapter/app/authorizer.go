// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// wholeFirst asks first whether somebody may have all of a list, and only if not, whether a part of it: who may have all may have each
// part. What is allowed is remembered by what was asked, and each autoscaler asks with another selector: the hub would be asked as
// often as we are.
func wholeFirst(hub authorizer.UnconditionalAuthorizer) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if selects(a) {
			decision, reason, err := hub.Authorize(ctx, whole{a})
			if decision == authorizer.DecisionAllow || err != nil {
				return decision, reason, err
			}
		}
		return hub.Authorize(ctx, a)
	})
}

// selects reports whether a part of a list is asked for, or of something that cannot be read.
func selects(a authorizer.Attributes) bool {
	byField, faultOfFields := a.GetFieldSelector()
	byLabel, faultOfLabels := a.GetLabelSelector()
	return len(byField)+len(byLabel) > 0 || faultOfFields != nil || faultOfLabels != nil
}

// whole is a request without its selectors.
type whole struct{ authorizer.Attributes }

func (whole) GetFieldSelector() (fields.Requirements, error) { return nil, nil }

func (whole) GetLabelSelector() (labels.Requirements, error) { return nil, nil }

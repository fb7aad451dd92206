// SPDX-License-Identifier: Apache-2.0

package memberapi

import (
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
)

// selection is which members somebody wants.
type selection struct {
	labels labels.Selector
	fields fields.Selector
}

func selected(o *metainternalversion.ListOptions) selection {
	s := selection{labels.Everything(), fields.Everything()}
	if o != nil && o.LabelSelector != nil {
		s.labels = o.LabelSelector
	}
	if o != nil && o.FieldSelector != nil {
		s.fields = o.FieldSelector
	}
	return s
}

func (s selection) matches(m *v1alpha1.Member) bool {
	return s.labels.Matches(labels.Set(m.Labels)) && s.fields.Matches(fields.Set{"metadata.name": m.Name, "metadata.namespace": ""})
}

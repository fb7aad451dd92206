// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/metrics/pkg/apis/metrics"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/usage"
)

// question is what is asked of whom, and which items of the answer are meant.
type question struct {
	usage.Question
	fields fields.Selector
}

// question reads a request. The cluster's label is not the pods': requirements
// on it choose who is asked, the others which pods are meant.
func (a *Adapter) question(ctx context.Context, options *metainternalversion.ListOptions) (question, error) {
	q := question{
		Question: usage.Question{
			Namespace: genericapirequest.NamespaceValue(ctx),
			Selector:  labels.Everything(),
			Clusters:  a.visibleTo(ctx),
		},
		fields: fields.Everything(),
	}
	if q.Namespace != "" {
		if faults := validation.ValidateNamespaceName(q.Namespace, false); len(faults) > 0 {
			return question{}, apierrors.NewBadRequest(fmt.Sprintf("namespace %q: %s", q.Namespace, faults[0]))
		}
	}
	if q.Namespace != "" {
		if err := a.outside(metrics.Resource("pods"), q.Namespace, ""); err != nil {
			return question{}, err
		}
	}
	if options == nil {
		return q, nil
	}
	if options.FieldSelector != nil {
		q.fields = options.FieldSelector
	}
	if options.LabelSelector != nil {
		ofCluster, ofItem := split(options.LabelSelector)
		q.Selector = ofItem
		if visible := q.Clusters; !ofCluster.Empty() {
			q.Clusters = func(name string) bool {
				return visible(name) && ofCluster.Matches(labels.Set{fleet.ClusterLabel: name})
			}
		}
	}
	return q, nil
}

// visibleTo returns which clusters a client gets to see.
func (a *Adapter) visibleTo(ctx context.Context) func(string) bool {
	if user, found := genericapirequest.UserFrom(ctx); found && a.localUsers.Has(user.GetName()) {
		if _, hub := a.clusters(); hub != "" {
			return func(name string) bool { return name == hub }
		}
	}
	return func(string) bool { return true }
}

func split(selector labels.Selector) (ofCluster, ofItem labels.Selector) {
	ofCluster, ofItem = labels.Everything(), labels.Everything()
	requirements, selectable := selector.Requirements()
	if !selectable {
		return ofCluster, labels.Nothing()
	}
	for _, r := range requirements {
		if r.Key() == fleet.ClusterLabel {
			ofCluster = ofCluster.Add(r)
		} else {
			ofItem = ofItem.Add(r)
		}
	}
	return ofCluster, ofItem
}

// means is true for the samples that the field selector means.
func (q question) means(s usage.Sample) bool {
	return q.fields.Matches(fields.Set{"metadata.name": s.Name(), "metadata.namespace": s.Namespace()})
}

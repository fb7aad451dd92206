// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/usage"
)

// ask puts a question to the fleet: usage.Store's Pods or Nodes.
type ask func(context.Context, usage.Question) fleet.Answer[usage.Selection]

// found is a sample and where it is from.
type found struct {
	cluster *cluster
	usage.Sample
}

// cluster is what its items share.
type cluster struct {
	name        string
	annotations map[string]string
}

// karmadaClusterAnnotation is what karmadactl top reads the cluster from.
const karmadaClusterAnnotation = "resource.karmada.io/query-from-cluster"

// list answers with all samples that are asked for, by namespace, name and cluster.
func (a *Adapter) list(ctx context.Context, ask ask, options *metainternalversion.ListOptions) ([]found, error) {
	q, err := a.question(ctx, options)
	if err != nil {
		return nil, err
	}
	answer := a.askFleet(ctx, ask, q)
	if err := a.announce(ctx, answer.Coverage()); err != nil {
		return nil, err
	}
	items := inOrder(answer, q)
	a.observeFreshness(answer)
	return items, conversationOf(ctx).hold(len(items))
}

// get answers with the one sample of that name. Nothing is said to be absent
// while a member that may have it is silent.
func (a *Adapter) get(ctx context.Context, ask ask, resource schema.GroupResource, name string) (found, error) {
	q, err := a.question(ctx, nil)
	if err != nil {
		return found{}, err
	}
	q.fields = fields.OneTermEqualSelector("metadata.name", name)
	answer := a.askFleet(ctx, ask, q)
	coverage := answer.Coverage()
	if err := a.announce(ctx, coverage); err != nil {
		return found{}, err
	}
	switch items := inOrder(answer, q); {
	case len(items) == 1:
		return items[0], nil
	case len(items) > 1:
		return found{}, ambiguous(resource, q, name, items)
	case len(coverage.Silent) > 0:
		return found{}, apierrors.NewServiceUnavailable(fmt.Sprintf(
			"%s %q is in none of the clusters that answered, and %s", resource.Resource, name, coverage.Warning()))
	default:
		return found{}, apierrors.NewNotFound(resource, name)
	}
}

// askFleet answers with a word on every registered member that the question is for.
func (a *Adapter) askFleet(ctx context.Context, ask ask, q question) fleet.Answer[usage.Selection] {
	answer := ask(ctx, q.Question)
	addUnheard(a, answer, q.Clusters)
	return answer
}

// kubectlName is what kubectl get knows a resource by. (kubectl top can not
// help here: it takes a field selector for one on the hub's own pods.)
var kubectlName = map[string]string{"pods": "podmetrics", "nodes": "nodemetrics"}

func ambiguous(resource schema.GroupResource, q question, name string, items []found) error {
	clusters := make([]string, len(items))
	for i, item := range items {
		clusters[i] = item.cluster.name
	}
	where := ""
	if q.Namespace != "" {
		where = " -n " + q.Namespace
	}
	return apierrors.NewConflict(resource, name, fmt.Errorf(
		"it exists in %d clusters: %s; name one: kubectl get %s%s --field-selector metadata.name=%s -l %s=%s",
		len(items), strings.Join(clusters, ", "), kubectlName[resource.Resource], where, name, fleet.ClusterLabel, clusters[0]))
}

func inOrder(answer fleet.Answer[usage.Selection], q question) []found {
	total := 0
	for name, selection := range answer.Values {
		if !q.fields.Empty() {
			selection = selection.Where(q.means)
			answer.Values[name] = selection
		}
		total += selection.Len()
	}
	items := make([]found, 0, total)
	for name, selection := range answer.Values {
		from := &cluster{name: name, annotations: map[string]string{karmadaClusterAnnotation: name}}
		for i := range selection.Len() {
			items = append(items, found{from, selection.At(i)})
		}
	}
	slices.SortFunc(items, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.Namespace(), b.Namespace()), cmp.Compare(a.Name(), b.Name()),
			cmp.Compare(a.cluster.name, b.cluster.name))
	})
	return items
}

// mark says in the item's metadata where it is from. The annotations are
// shared by all items of the cluster: nothing on the way out writes to them.
func (f found) mark(meta *metav1.ObjectMeta) {
	meta.Labels[fleet.ClusterLabel] = f.cluster.name
	meta.Annotations = f.cluster.annotations
}

// observeFreshness notes how old, by the members' clocks, what we serve is:
// one observation per member, since the samples of one are of one measurement.
func (a *Adapter) observeFreshness(answer fleet.Answer[usage.Selection]) {
	for _, selection := range answer.Values {
		if selection.Len() > 0 {
			a.freshness.Observe(selection.At(0).Timestamp())
		}
	}
}

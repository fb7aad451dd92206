// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/usage"
)

// ask puts a question to the fleet: usage.Store's Pods or Nodes.
type ask func(context.Context, usage.Question) fleet.Answer[usage.Selection]

// found is a sample and where it is from.
type found struct {
	cluster *origin
	usage.Sample
}

// origin is what the items of one cluster share.
type origin struct {
	name        string
	annotations map[string]string // made when first needed
}

// karmadaClusterAnnotation is what karmadactl top reads the cluster from.
const karmadaClusterAnnotation = "resource.karmada.io/query-from-cluster"

// list answers with all samples that are asked for, by namespace, name and cluster.
func (a *Adapter) list(ctx context.Context, ask ask, options *metainternalversion.ListOptions) ([]found, error) {
	q, err := a.question(ctx, options)
	if err != nil {
		return nil, err
	}
	answer, coverage, err := a.askFleet(ctx, ask, q)
	if err != nil {
		return nil, err
	}
	a.observeFreshness(answer)
	return inOrder(answer, coverage.Answered, q), nil
}

// get answers with the one sample of that name. Nothing is said to be absent
// while a member that may have it is silent.
func (a *Adapter) get(ctx context.Context, ask ask, resource schema.GroupResource, name string) (found, error) {
	q, err := a.question(ctx, nil)
	if err != nil {
		return found{}, err
	}
	q.fields = fields.OneTermEqualSelector("metadata.name", name)
	answer, coverage, err := a.askFleet(ctx, ask, q)
	if err != nil {
		return found{}, err
	}
	switch items := inOrder(answer, coverage.Answered, q); {
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

// askFleet answers with a word on every registered member that the question is
// for, and announces that.
func (a *Adapter) askFleet(ctx context.Context, ask ask, q question) (fleet.Answer[usage.Selection], fleet.Coverage, error) {
	answer := ask(ctx, q.Question)
	registered, _ := a.clusters() // those who joined meanwhile included
	addUnheard(answer, registered, q.Clusters)
	answer.Release(a.drained)
	coverage := answer.Coverage()
	return answer, coverage, announce(ctx, registered, coverage)
}

// kubectlName is what kubectl get knows a resource by. (kubectl top cannot
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

// inOrder makes one list of what the clusters, given by name, have: by
// namespace, name and cluster. Each cluster's part is in that order already.
func inOrder(answer fleet.Answer[usage.Selection], clusters []string, q question) []found {
	total := 0
	for name, selection := range answer.Values {
		if !q.fields.Empty() {
			selection = selection.Where(q.means)
			answer.Values[name] = selection
		}
		total += selection.Len()
	}
	items, ends := make([]found, 0, total), make([]int, 0, len(clusters))
	from := make([]origin, len(clusters))
	for c, name := range clusters {
		selection := answer.Values[name]
		if selection.Len() == 0 {
			continue
		}
		from[c].name = name
		for i := range selection.Len() {
			items = append(items, found{&from[c], selection.At(i)})
		}
		ends = append(ends, len(items))
	}
	return merged(items, ends)
}

// merged makes one ordered run of the several that end there, by merging two
// and two. What is equal stays in the order of the runs.
func merged(items []found, ends []int) []found {
	spare := make([]found, len(items))
	for len(ends) > 1 {
		start := 0
		var longer []int
		for pair := range slices.Chunk(ends, 2) {
			middle, end := pair[0], pair[len(pair)-1]
			mergeTwo(spare[start:end], items[start:middle], items[middle:end])
			longer, start = append(longer, end), end
		}
		items, spare, ends = spare, items, longer
	}
	return items
}

func mergeTwo(into, a, b []found) {
	for i := range into {
		if len(b) == 0 || len(a) > 0 && !b[0].before(a[0]) {
			into[i], a = a[0], a[1:]
		} else {
			into[i], b = b[0], b[1:]
		}
	}
}

func (f found) before(other found) bool {
	if f.Namespace() != other.Namespace() {
		return f.Namespace() < other.Namespace()
	}
	return f.Name() < other.Name()
}

// labels are the sample's and the cluster's, by key.
func (f found) labels() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		marked := false
		for key, value := range f.AllLabels() {
			if !marked && key >= fleet.ClusterLabel {
				marked = true
				if !yield(fleet.ClusterLabel, f.cluster.name) {
					return
				}
			}
			if key != fleet.ClusterLabel && !yield(key, value) {
				return
			}
		}
		if !marked {
			yield(fleet.ClusterLabel, f.cluster.name)
		}
	}
}

// mark says in the item's metadata where it is from. The annotations are
// shared by all items of the cluster: nothing on the way out writes to them.
func (f found) mark(meta *metav1.ObjectMeta) {
	if f.cluster.annotations == nil {
		f.cluster.annotations = map[string]string{karmadaClusterAnnotation: f.cluster.name}
	}
	meta.Labels[fleet.ClusterLabel] = f.cluster.name
	meta.Annotations = f.cluster.annotations
}

// observeFreshness notes how old, by the members' clocks, the oldest of what we
// serve is: one observation per answer, which is no fresher than its worst part.
// One sample stands for all of a member, which are of one measurement.
func (a *Adapter) observeFreshness(answer fleet.Answer[usage.Selection]) {
	var oldest metav1.Time
	for _, selection := range answer.Values {
		if selection.Len() == 0 {
			continue
		}
		if at := selection.At(0).Timestamp(); oldest.IsZero() || at.Before(&oldest) {
			oldest = at
		}
	}
	if !oldest.IsZero() {
		a.freshness.Observe(oldest)
	}
}

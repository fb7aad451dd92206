// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Decisions reads the PlacementDecisions of a hub.
type Decisions struct {
	// Hub is cached, with the scheme of [AddToScheme].
	Hub client.Reader
	// ClusterOf returns the name of the cluster that a ClusterProfile stands for, and whether it is registered. The name is never empty:
	// of one that nobody has registered it is a name that no cluster has.
	ClusterOf func(namespace, name string) (cluster string, registered bool)
}

// Clusters are those of a decision in a namespace, by the value of [DecisionAnnotation]; those that nobody has registered are among them,
// by names that no cluster has. An error says why they are not known: then nothing may be concluded.
func (d *Decisions) Clusters(ctx context.Context, namespace, decision string) (map[string]*int32, error) {
	parts, err := d.parts(ctx, namespace, decision)
	if meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("the hub does not serve PlacementDecisions of %s", inventory)
	}
	if err != nil {
		return nil, err
	}
	profiles, err := chosen(decision, namespace, parts)
	if err != nil {
		return nil, err
	}
	clusters := make(map[string]*int32, len(profiles))
	unregistered := 0
	for _, p := range profiles {
		cluster, registered := d.ClusterOf(p.Namespace, p.Name)
		if !registered {
			unregistered++
		}
		clusters[cluster] = nil
	}
	if unregistered > mostUnregistered {
		return nil, fmt.Errorf("the decision %q names %d ClusterProfiles that register no cluster; at most %d may be: register them, or see "+
			"--clusterprofile-namespaces", decision, unregistered, mostUnregistered)
	}
	return clusters, nil
}

// parts are the slices with the decision as their key, or the one of that name that has no key.
func (d *Decisions) parts(ctx context.Context, namespace, decision string) ([]PlacementDecision, error) {
	list := &PlacementDecisionList{}
	err := d.Hub.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{decisionKeyLabel: decision})
	if err != nil || len(list.Items) > 0 {
		return list.Items, err
	}
	one := &PlacementDecision{}
	switch err := d.Hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: decision}, one); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case one.Labels[decisionKeyLabel] != "":
		return nil, fmt.Errorf("PlacementDecision %q may be one of several: name its label %s=%s", decision, decisionKeyLabel,
			one.Labels[decisionKeyLabel])
	}
	return []PlacementDecision{*one}, nil
}

func (p ClusterProfile) compare(other ClusterProfile) int {
	return cmp.Or(strings.Compare(p.Namespace, other.Namespace), strings.Compare(p.Name, other.Name))
}

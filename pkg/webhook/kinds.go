// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/admission"
)

const (
	// kindsTimeout is a part of the time that the hub gives us for an admission.
	kindsTimeout = time.Second
	maxKinds     = 1000
)

// discoverer tells all that the hub serves; where the hub has no aggregated
// discovery, resources are nil.
type discoverer interface {
	GroupsAndMaybeResourcesWithContext(ctx context.Context) (groups *metav1.APIGroupList,
		resources map[schema.GroupVersion]*metav1.APIResourceList, failed map[schema.GroupVersion]error, err error)
}

// Kinds knows which kinds the hub serves. It asks about kinds that it has not
// seen served, and remembers those that were: workloads are of few kinds, which
// seldom go away.
type Kinds struct {
	hub discoverer

	mu     sync.Mutex
	served map[schema.GroupKind][]string
}

// NewKinds asks nothing yet.
func NewKinds(hub discoverer) *Kinds {
	return &Kinds{hub: hub, served: map[schema.GroupKind][]string{}}
}

// of returns in which versions the hub serves the kind of a target; nil if that
// cannot be said now.
func (k *Kinds) of(ctx context.Context, target autoscalingv2.CrossVersionObjectReference) *admission.Served {
	gv, err := schema.ParseGroupVersion(target.APIVersion)
	if err != nil {
		return nil
	}
	kind := schema.GroupKind{Group: gv.Group, Kind: target.Kind}
	if versions := k.remembered(kind); slices.Contains(versions, gv.Version) {
		return &admission.Served{Versions: versions}
	}
	ctx, cancel := context.WithTimeout(ctx, kindsTimeout)
	defer cancel()
	groups, resources, failed, err := k.hub.GroupsAndMaybeResourcesWithContext(ctx)
	if err != nil || resources == nil {
		klog.FromContext(ctx).V(2).Info("Could not read which kinds the hub serves", "kind", kind.String(), "err", err)
		return nil
	}
	versions := versionsOf(kind, groups, resources)
	if len(versions) == 0 && failedIn(failed, kind.Group) {
		return nil
	}
	k.remember(kind, versions)
	return &admission.Served{Versions: versions}
}

// versionsOf are in the order in which the hub prefers them.
func versionsOf(kind schema.GroupKind, groups *metav1.APIGroupList, resources map[schema.GroupVersion]*metav1.APIResourceList) []string {
	var versions []string
	for _, group := range groups.Groups {
		if group.Name != kind.Group {
			continue
		}
		for _, v := range group.Versions {
			list := resources[schema.GroupVersion{Group: group.Name, Version: v.Version}]
			if list != nil && slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool {
				return r.Kind == kind.Kind &&
					!strings.Contains(r.Name, "/")
			}) {
				versions = append(versions, v.Version)
			}
		}
	}
	return versions
}

// failedIn reports whether the hub could not tell all of a group, as when another
// server serves it and is down.
func failedIn(failed map[schema.GroupVersion]error, group string) bool {
	for gv := range failed {
		if gv.Group == group {
			return true
		}
	}
	return false
}

func (k *Kinds) remembered(kind schema.GroupKind) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.served[kind]
}

func (k *Kinds) remember(kind schema.GroupKind, versions []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.served) >= maxKinds {
		clear(k.served)
	}
	if len(versions) > 0 {
		k.served[kind] = versions
	} else {
		delete(k.served, kind)
	}
}

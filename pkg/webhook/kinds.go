// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
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
	served map[schema.GroupKind]servedKind
}

// servedKind is what the hub serves a kind as.
type servedKind struct {
	versions []string // in the order in which the hub prefers them; none: it does not
	resource string
}

// NewKinds asks nothing yet.
func NewKinds(hub discoverer) *Kinds {
	return &Kinds{hub: hub, served: map[schema.GroupKind]servedKind{}}
}

// of returns in which versions the hub serves the kind of a target; nil if that
// cannot be said now.
func (k *Kinds) of(ctx context.Context, target autoscalingv2.CrossVersionObjectReference) *admission.Served {
	gv, err := schema.ParseGroupVersion(target.APIVersion)
	if err != nil {
		return nil
	}
	kind, err := k.find(ctx, gv.WithKind(target.Kind))
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Could not read which kinds the hub serves", "kind", target.Kind, "err", err)
		return nil
	}
	return &admission.Served{Versions: kind.versions}
}

// resource is what a target's kind is called in rights. Of one that the hub does not
// serve that is what it is called as a rule.
func (k *Kinds) resource(ctx context.Context, target autoscalingv2.CrossVersionObjectReference) (schema.GroupVersionResource, error) {
	gv, err := schema.ParseGroupVersion(target.APIVersion)
	if err != nil {
		return schema.GroupVersionResource{}, fmt.Errorf("reading spec.scaleTargetRef.apiVersion: %w", err)
	}
	kind, err := k.find(ctx, gv.WithKind(target.Kind))
	if err != nil {
		return schema.GroupVersionResource{}, fmt.Errorf("asking the hub which resource a %s is: %w", target.Kind, err)
	}
	if kind.resource == "" {
		usual, _ := meta.UnsafeGuessKindToResource(gv.WithKind(target.Kind))
		return usual, nil
	}
	return gv.WithResource(kind.resource), nil
}

// find asks about a kind unless it is remembered in that version.
func (k *Kinds) find(ctx context.Context, gvk schema.GroupVersionKind) (servedKind, error) {
	kind := gvk.GroupKind()
	if known := k.remembered(kind); slices.Contains(known.versions, gvk.Version) {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, kindsTimeout)
	defer cancel()
	groups, resources, failed, err := k.hub.GroupsAndMaybeResourcesWithContext(ctx)
	if err == nil && resources == nil {
		err = errors.New("it has no aggregated discovery")
	}
	if err != nil {
		return servedKind{}, err
	}
	found := servedAs(kind, groups, resources)
	if len(found.versions) == 0 && failedIn(failed, kind.Group) {
		return servedKind{}, fmt.Errorf("it cannot tell all of group %s", kind.Group)
	}
	k.remember(kind, found)
	return found, nil
}

// servedAs finds a kind in what the hub serves.
func servedAs(kind schema.GroupKind, groups *metav1.APIGroupList, resources map[schema.GroupVersion]*metav1.APIResourceList) servedKind {
	var found servedKind
	for _, group := range groups.Groups {
		if group.Name != kind.Group {
			continue
		}
		for _, v := range group.Versions {
			list := resources[schema.GroupVersion{Group: group.Name, Version: v.Version}]
			if list == nil {
				continue
			}
			at := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool {
				return r.Kind == kind.Kind && !strings.Contains(r.Name, "/")
			})
			if at >= 0 {
				found.versions = append(found.versions, v.Version)
				found.resource = cmp.Or(found.resource, list.APIResources[at].Name)
			}
		}
	}
	return found
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

func (k *Kinds) remembered(kind schema.GroupKind) servedKind {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.served[kind]
}

func (k *Kinds) remember(kind schema.GroupKind, as servedKind) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.served) >= maxKinds {
		clear(k.served)
	}
	if len(as.versions) > 0 {
		k.served[kind] = as
	} else {
		delete(k.served, kind)
	}
}

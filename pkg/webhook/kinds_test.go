// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// discovery is a hub's: kinds by group and version.
type discovery struct {
	kinds  map[schema.GroupVersion][]string
	failed []schema.GroupVersion
	old    bool // there is no aggregated discovery
	err    error
	asked  int
}

func (d *discovery) GroupsAndMaybeResourcesWithContext(context.Context) (*metav1.APIGroupList,
	map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error, error) {
	d.asked++
	if d.err != nil {
		return nil, nil, nil, d.err
	}
	groups := &metav1.APIGroupList{Groups: []metav1.APIGroup{
		{Versions: []metav1.GroupVersionForDiscovery{{Version: "v1"}}},
		{Name: "apps", Versions: []metav1.GroupVersionForDiscovery{{Version: "v1"}, {Version: "v1beta2"}, {Version: "v1beta1"}}},
		{Name: "argoproj.io", Versions: []metav1.GroupVersionForDiscovery{{Version: "v1alpha1"}}},
	}}
	if d.old {
		return groups, nil, nil, nil
	}
	resources, failed := map[schema.GroupVersion]*metav1.APIResourceList{}, map[schema.GroupVersion]error{}
	for gv, kinds := range d.kinds {
		resources[gv] = &metav1.APIResourceList{APIResources: []metav1.APIResource{{Name: "things/scale", Kind: "Scale"}}}
		for _, kind := range kinds {
			resources[gv].APIResources = append(resources[gv].APIResources, metav1.APIResource{Name: "things", Kind: kind})
		}
	}
	for _, gv := range d.failed {
		failed[gv] = errors.New("stale")
	}
	return groups, resources, failed, nil
}

func to(apiVersion, kind string) autoscalingv2.CrossVersionObjectReference {
	return autoscalingv2.CrossVersionObjectReference{APIVersion: apiVersion, Kind: kind, Name: "web"}
}

func TestKindsOfTheHub(t *testing.T) {
	apps := map[schema.GroupVersion][]string{{Group: "apps", Version: "v1beta1"}: {"Deployment"},
		{Group: "apps", Version: "v1"}: {"DaemonSet", "Deployment"}}
	argo := schema.GroupVersion{Group: "argoproj.io", Version: "v1alpha1"}
	tests := map[string]struct {
		hub    discovery
		target autoscalingv2.CrossVersionObjectReference
		want   *admission.Served
	}{
		"served in two versions, the preferred one first": {discovery{kinds: apps}, to("apps/v1", "Deployment"),
			&admission.Served{Versions: []string{"v1", "v1beta1"}}},
		"served in another version": {discovery{kinds: apps}, to("apps/v2", "Deployment"),
			&admission.Served{Versions: []string{"v1", "v1beta1"}}},
		"no such kind in the group":             {discovery{kinds: apps}, to("apps/v1", "Rollout"), &admission.Served{}},
		"no such group":                         {discovery{kinds: apps}, to("example.org/v1", "Deployment"), &admission.Served{}},
		"a subresource is no kind of the group": {discovery{kinds: apps}, to("apps/v1", "Scale"), &admission.Served{}},
		"the group's server is down": {discovery{kinds: apps, failed: []schema.GroupVersion{argo}},
			to("argoproj.io/v1alpha1", "Rollout"), nil},
		"the server of another group is down": {discovery{kinds: apps, failed: []schema.GroupVersion{argo}}, to("apps/v1", "Rollout"),
			&admission.Served{}},
		"the hub does not answer":         {discovery{err: errors.New("away")}, to("apps/v1", "Deployment"), nil},
		"the hub is too old to tell all":  {discovery{old: true}, to("apps/v1", "Deployment"), nil},
		"a reference that cannot be read": {discovery{kinds: apps}, to("a/b/c", "Deployment"), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "", tc.want, NewKinds(&tc.hub).of(t.Context(), tc.target))
		})
	}
}

func TestKindsThatAreServedAreAskedForOnce(t *testing.T) {
	hub := &discovery{kinds: map[schema.GroupVersion][]string{{Group: "apps", Version: "v1"}: {"Deployment"}}}
	kinds := NewKinds(hub)
	for range 3 {
		kinds.of(t.Context(), to("apps/v1", "Deployment"))
	}
	if hub.asked != 1 {
		t.Errorf("a kind that is served was asked for %d times, want once", hub.asked)
	}
	kinds.of(t.Context(), to("apps/v1", "Rollout"))
	hub.kinds[schema.GroupVersion{Group: "apps", Version: "v1"}] = []string{"Rollout"}
	if got := kinds.of(t.Context(), to("apps/v1", "Rollout")); got == nil || len(got.Versions) != 1 {
		t.Errorf("a kind that has come since is %v", got)
	}
}

func TestKindsForgetWhatWouldBeTooMany(t *testing.T) {
	hub := &discovery{kinds: map[schema.GroupVersion][]string{{Group: "apps", Version: "v1"}: nil}}
	for i := range maxKinds + 10 {
		hub.kinds[schema.GroupVersion{Group: "apps", Version: "v1"}] = append(hub.kinds[schema.GroupVersion{Group: "apps", Version: "v1"}],
			fmt.Sprint("K", i))
	}
	kinds := NewKinds(hub)
	for i := range maxKinds + 10 {
		kinds.of(t.Context(), to("apps/v1", fmt.Sprint("K", i)))
	}
	if len(kinds.served) > maxKinds {
		t.Errorf("%d kinds are remembered, want %d at most", len(kinds.served), maxKinds)
	}
}

// silent never answers.
type silent struct{}

func (silent) GroupsAndMaybeResourcesWithContext(ctx context.Context) (*metav1.APIGroupList,
	map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error, error) {
	<-ctx.Done()
	return nil, nil, nil, ctx.Err()
}

func TestAHubThatDoesNotAnswerIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if got := NewKinds(silent{}).of(t.Context(), to("apps/v1", "Deployment")); got != nil {
			t.Errorf("got %v", got)
		}
	})
}

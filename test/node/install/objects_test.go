// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// objects are all that a cluster stores, but for what only tells what happened: by resource, namespace and name.
func objects(ctx context.Context, c *lab.Cluster) ([]string, error) {
	config, err := c.RESTConfig()
	if err != nil {
		return nil, err
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	lists, err := kinds.ServerPreferredResources()
	if err != nil {
		return nil, err // also where an APIService leads nowhere
	}
	var all []string
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "create"}}, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, kind := range list.APIResources {
			if kind.Name == "events" {
				continue
			}
			stored, err := client.Resource(version.WithResource(kind.Name)).List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, fmt.Errorf("listing %s: %w", kind.Name, err)
			}
			for _, o := range stored.Items {
				all = append(all, fmt.Sprintf("%s.%s %s/%s", kind.Name, version.Group, o.Namespace, o.Name))
			}
		}
	}
	slices.Sort(all)
	return all, nil
}

// all are the objects of each cluster.
func (s *stage) all(ctx context.Context) (map[string][]string, error) {
	stored := map[string][]string{}
	for _, c := range s.clusters() {
		of, err := objects(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		stored[c.Name] = of
	}
	return stored, nil
}

// leavesNothing checks that what is done leaves each cluster as it was.
func (s *stage) leavesNothing(t *testing.T, do func()) {
	t.Helper()
	before, err := s.all(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	do()
	err = fixture.Await(t.Context(), patience, func(ctx context.Context) error {
		after, err := s.all(ctx)
		if diff := cmp.Diff(before, after); err == nil && diff != "" {
			err = fmt.Errorf("what is stored (-before +after):\n%s", diff)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

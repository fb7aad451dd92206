// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/capacity"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/member"
	"github.com/fleetscale/fleetscale/pkg/mirror"
	"github.com/fleetscale/fleetscale/pkg/pods"
)

// Members are the registered clusters, with what is watched in them.
type Members struct {
	registry    *member.Registry
	pods        *pods.Store
	capacity    *capacity.Estimator
	autoscalers *mirror.Mirror[*autoscalingv2.HorizontalPodAutoscaler, autoscalerRecord]
}

// NewMembers returns the clusters of the registry. The caller runs all three.
func NewMembers(registry *member.Registry, store *pods.Store, rooms *capacity.Estimator) *Members {
	return &Members{
		registry: registry,
		pods:     store,
		capacity: rooms,
		autoscalers: mirror.New(mirror.Options[*autoscalingv2.HorizontalPodAutoscaler, autoscalerRecord]{
			Resource: autoscalingv2.SchemeGroupVersion.WithResource("horizontalpodautoscalers"),
			Keep:     recordOf,
		}),
	}
}

// Run watches what members have of their own, as far as it is asked for, until ctx ends.
func (m *Members) Run(ctx context.Context) error { return m.autoscalers.Run(ctx) }

// Settled implements [Fleet].
func (m *Members) Settled() error { return m.registry.Settled() }

// Clusters implements [Fleet].
func (m *Members) Clusters() []Cluster {
	var all []Cluster
	for _, one := range m.registry.Members() {
		all = append(all, memberCluster{one, m})
	}
	return all
}

// autoscalerRecord is what is kept of a HorizontalPodAutoscaler.
type autoscalerRecord struct {
	key    mirror.Key
	target autoscalingv2.CrossVersionObjectReference
	ours   bool
}

func (r autoscalerRecord) Key() mirror.Key { return r.key }

func recordOf(hpa *autoscalingv2.HorizontalPodAutoscaler) autoscalerRecord {
	return autoscalerRecord{
		key:    mirror.Key{Namespace: hpa.Namespace, Name: hpa.Name},
		target: hpa.Spec.ScaleTargetRef,
		ours:   hpa.Labels[v1alpha1.ManagedByLabel] != "",
	}
}

// memberCluster is one registered cluster.
type memberCluster struct {
	*member.Member
	all *Members
}

func (c memberCluster) Facts() assignment.ClusterFacts {
	t := c.Topology()
	return assignment.ClusterFacts{Name: c.Name(), Labels: c.Labels(), Provider: t.Provider, Region: t.Region, Zones: t.Zones}
}

func (c memberCluster) ClockOffset() time.Duration {
	offset, _ := c.Member.ClockOffset()
	return offset
}

func (c memberCluster) Silence() *fleet.Silence {
	silence, _ := fleet.Classify(c.Member.Silence())
	return silence
}

func (c memberCluster) Pods(ctx context.Context, namespace string, selector labels.Selector) pods.Listing {
	return c.all.pods.Ask(ctx, c.Member, namespace, selector)
}

// Autoscalers does not wait for long: that it can not know is no reason to stop.
func (c memberCluster) Autoscalers(ctx context.Context, namespace string) []Autoscaler {
	var others []Autoscaler
	for _, r := range c.all.autoscalers.Ask(ctx, c.Member, namespace).Objects {
		if !r.ours {
			others = append(others, Autoscaler{Name: r.key.Name, Target: r.target})
		}
	}
	return others
}

func (c memberCluster) Scale(ctx context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference) (*autoscalingv1.Scale, error) {
	var first error
	resources, err := c.resources(of)
	for _, resource := range resources {
		scale, err := exchange(ctx, scaleAt(c.Client().Get(), resource, namespace, of.Name))
		if err == nil {
			return scale, nil
		}
		if first == nil {
			first = fmt.Errorf("reading the scale of %s: %w", describe(of), err)
		}
	}
	return nil, errors.Join(err, first)
}

func (c memberCluster) SetScale(ctx context.Context, of autoscalingv2.CrossVersionObjectReference, scale *autoscalingv1.Scale) error {
	resources, err := c.resources(of)
	if err != nil {
		return err
	}
	body, err := json.Marshal(scale)
	if err != nil {
		return fmt.Errorf("encoding a scale: %w", err)
	}
	request := scaleAt(c.Client().Put(), resources[0], scale.Namespace, of.Name).
		Param("fieldManager", fieldManager).SetHeader("Content-Type", "application/json").Body(body)
	_, err = exchange(ctx, request)
	return err
}

// resources are what the cluster may serve the kind as, the preferred version first.
func (c memberCluster) resources(of autoscalingv2.CrossVersionObjectReference) ([]schema.GroupVersionResource, error) {
	gv, err := schema.ParseGroupVersion(of.APIVersion)
	if err != nil {
		return nil, fmt.Errorf("reading spec.scaleTargetRef.apiVersion: %w", err)
	}
	mappings, err := c.Mapper().RESTMappings(schema.GroupKind{Group: gv.Group, Kind: of.Kind})
	if err != nil {
		return nil, err
	}
	var resources []schema.GroupVersionResource
	for _, mapping := range mappings {
		resources = append(resources, mapping.Resource)
	}
	if len(resources) == 0 {
		return nil, &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: gv.Group, Kind: of.Kind}}
	}
	return resources, nil
}

// scaleAt leads a request to the scale of a workload.
func scaleAt(request *rest.Request, resource schema.GroupVersionResource, namespace, name string) *rest.Request {
	return workloadAt(request, resource, namespace, name).SubResource("scale")
}

func workloadAt(request *rest.Request, resource schema.GroupVersionResource, namespace, name string) *rest.Request {
	root := []string{"/apis", resource.Group, resource.Version}
	if resource.Group == "" {
		root = []string{"/api", resource.Version}
	}
	return request.AbsPath(root...).Namespace(namespace).Resource(resource.Resource).Name(name).
		SetHeader("Accept", "application/json")
}

// exchange sends a request and reads the scale in the answer.
func exchange(ctx context.Context, request *rest.Request) (*autoscalingv1.Scale, error) {
	answer, err := answerTo(ctx, request)
	if err != nil {
		return nil, err
	}
	scale := &autoscalingv1.Scale{}
	if err := json.Unmarshal(answer, scale); err != nil {
		return nil, fmt.Errorf("decoding a scale: %w", err)
	}
	return scale, nil
}

// answerTo sends a request. An error has the words of the cluster, which Raw alone leaves out.
func answerTo(ctx context.Context, request *rest.Request) ([]byte, error) {
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"fmt"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/endpoints/discovery"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	"k8s.io/metrics/pkg/apis/external_metrics"
	dynamicapi "sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver/installer"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"
	customregistry "sigs.k8s.io/custom-metrics-apiserver/pkg/registry/custom_metrics"
	externalregistry "sigs.k8s.io/custom-metrics-apiserver/pkg/registry/external_metrics"
)

// A dynamicGroup is an API whose resources are the metrics that there are. The
// library serves it; what it leaves to us is the discovery of every version.
type dynamicGroup struct {
	genericapiserver.APIGroupInfo

	name   string
	lister discovery.APIResourceLister
	// template is a version but for its name.
	template installer.MetricsAPIGroupVersion
}

func (a *Adapter) customGroup() *dynamicGroup {
	p := customProvider{a}
	g := newDynamicGroup(custom_metrics.GroupName, runtime.NewParameterCodec(dynamicapi.Scheme), provider.NewCustomMetricResourceLister(p))
	g.template.DynamicStorage, g.template.Handlers = customStorage{customregistry.NewREST(p)}, &installer.CMHandlers{}
	return g
}

func (a *Adapter) externalGroup() *dynamicGroup {
	p := externalProvider{a}
	g := newDynamicGroup(external_metrics.GroupName, metav1.ParameterCodec, provider.NewExternalMetricResourceLister(p))
	g.template.DynamicStorage, g.template.Handlers = externalregistry.NewREST(p), &installer.EMHandlers{}
	return g
}

func newDynamicGroup(name string, codec runtime.ParameterCodec, lister discovery.APIResourceLister) *dynamicGroup {
	g := &dynamicGroup{
		APIGroupInfo: genericapiserver.NewDefaultAPIGroupInfo(name, dynamicapi.Scheme, codec, dynamicapi.Codecs),
		name:         name,
		lister:       lister,
		template:     installer.MetricsAPIGroupVersion{ResourceLister: lister},
	}
	slices.SortFunc(g.PrioritizedVersions, func(a, b schema.GroupVersion) int { // the library puts the oldest first
		return -version.CompareKubeAwareVersionStrings(a.Version, b.Version)
	})
	return g
}

// installOn adds the group to a server, the preferred version first.
func (g *dynamicGroup) installOn(server *genericapiserver.GenericAPIServer) error {
	container := server.Handler.GoRestfulContainer
	group := metav1.APIGroup{Name: g.name}
	for _, gv := range g.PrioritizedVersions {
		api := g.template
		api.APIGroupVersion = g.version(gv)
		if err := api.InstallREST(container); err != nil {
			return fmt.Errorf("installing %s: %w", gv, err)
		}
		group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version})
	}
	group.PreferredVersion = group.Versions[0]
	server.DiscoveryGroupManager.AddGroup(group)
	container.Add(discovery.NewAPIGroupHandler(server.Serializer, group).WebService())
	return nil
}

func (g *dynamicGroup) version(gv schema.GroupVersion) *endpoints.APIGroupVersion {
	return &endpoints.APIGroupVersion{
		Root:             genericapiserver.APIGroupPrefix,
		GroupVersion:     gv,
		MetaGroupVersion: g.MetaGroupVersion,
		ParameterCodec:   g.ParameterCodec,
		Serializer:       g.NegotiatedSerializer,
		Creater:          g.Scheme,
		Convertor:        g.Scheme,
		UnsafeConvertor:  runtime.UnsafeObjectConvertor(g.Scheme),
		Typer:            g.Scheme,
		Namer:            runtime.Namer(meta.NewAccessor()),
	}
}

// publish puts the metrics that there are now into aggregated discovery.
func (g *dynamicGroup) publish(server *genericapiserver.GenericAPIServer) {
	resources, err := endpoints.ConvertGroupVersionIntoToDiscovery(inOneScope(g.lister.ListAPIResources()))
	if err != nil {
		panic("aggregated discovery takes no list of one scope: " + err.Error())
	}
	manager := server.AggregatedDiscoveryGroupManager
	for i, gv := range g.PrioritizedVersions {
		manager.AddGroupVersion(g.name, apidiscoveryv2.APIVersionDiscovery{
			Version: gv.Version, Resources: resources, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
		})
		manager.SetGroupVersionPriority(metav1.GroupVersion(gv), groupPriority, len(g.PrioritizedVersions)-i)
	}
}

// groupPriority is that of API groups whose order among others means nothing.
const groupPriority = 1000

// inOneScope leaves out metrics whose described resource is namespaced in one
// cluster and not in another: aggregated discovery cannot say so. The first
// scope stays, and the plain discovery has them all.
func inOneScope(resources []metav1.APIResource) []metav1.APIResource {
	namespaced := map[string]bool{}
	var kept []metav1.APIResource
	for _, r := range resources {
		described, _, _ := strings.Cut(r.Name, "/")
		if scope, seen := namespaced[described]; seen && scope != r.Namespaced {
			continue
		}
		namespaced[described] = r.Namespaced
		kept = append(kept, r)
	}
	return kept
}

// noMetricKnown stands in discovery while no member is known to have a metric.
const noMetricKnown = "no_metric_is_known"

// nothingKnown stands for the custom metrics that are not known.
func nothingKnown() []provider.CustomMetricInfo {
	return []provider.CustomMetricInfo{{GroupResource: schema.GroupResource{Resource: "pods"}, Metric: noMetricKnown, Namespaced: true}}
}

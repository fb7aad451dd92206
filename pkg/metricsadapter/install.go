// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"fmt"
	"maps"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilcompatibility "k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	"k8s.io/metrics/pkg/apis/external_metrics"
	"k8s.io/metrics/pkg/apis/metrics"
	"k8s.io/metrics/pkg/apis/metrics/install"
	metricsv1 "k8s.io/metrics/pkg/apis/metrics/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	dynamicapi "sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver"
	customopenapi "sigs.k8s.io/custom-metrics-apiserver/pkg/generated/openapi/custommetrics"
	externalopenapi "sigs.k8s.io/custom-metrics-apiserver/pkg/generated/openapi/externalmetrics"

	"github.com/fleetscale/fleetscale/pkg/metricsadapter/historyapi"
	"github.com/fleetscale/fleetscale/pkg/metricsadapter/memberapi"
	"github.com/fleetscale/fleetscale/pkg/metricsadapter/openapi"
)

const groupName = metrics.GroupName

// NewConfig is a server's configuration for what an Adapter serves; where it
// listens and whom it trusts are still to be set.
func NewConfig() *genericapiserver.Config {
	scheme, codecs := newScheme()
	c := genericapiserver.NewConfig(codecs)
	own := runtime.NewScheme()
	utilruntime.Must(memberapi.AddToScheme(own))
	utilruntime.Must(historyapi.AddToScheme(own))
	namer := openapinamer.NewDefinitionNamer(scheme, dynamicapi.Scheme, own)
	c.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	c.OpenAPIConfig.Info.Title = "fleetscale metrics-adapter"
	c.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
	c.OpenAPIV3Config.Info.Title = c.OpenAPIConfig.Info.Title
	c.EffectiveVersion = utilcompatibility.DefaultBuildEffectiveVersion()
	return c
}

// definitions describe the types of all APIs. Those of custom and
// external metrics are the library's; it describes the common types again.
func definitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	all := customopenapi.GetOpenAPIDefinitions(ref)
	maps.Copy(all, externalopenapi.GetOpenAPIDefinitions(ref))
	maps.Copy(all, openapi.GetOpenAPIDefinitions(ref))
	return all
}

// NewServer makes a server that serves the adapter's APIs.
func (a *Adapter) NewServer(c *genericapiserver.Config) (*genericapiserver.GenericAPIServer, error) {
	chain := c.BuildHandlerChainFunc
	c.BuildHandlerChainFunc = func(handler http.Handler, c *genericapiserver.Config) http.Handler {
		return chain(a.withConversation(handler), c)
	}
	server, err := c.Complete(nil).New("metrics-adapter", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, fmt.Errorf("creating the API server: %w", err)
	}
	if err := a.installOn(server); err != nil {
		return nil, err
	}
	return server, nil
}

func (a *Adapter) installOn(server *genericapiserver.GenericAPIServer) error {
	if a.apis.Has(groupName) {
		group, err := a.group()
		if err != nil {
			return err
		}
		if err := server.InstallAPIGroup(&group); err != nil {
			return fmt.Errorf("installing %s: %w", groupName, err)
		}
	}
	if err := a.installOwnOn(server); err != nil {
		return err
	}
	var groups []*dynamicGroup
	if a.apis.Has(custom_metrics.GroupName) {
		groups = append(groups, a.customGroup())
	}
	if a.apis.Has(external_metrics.GroupName) {
		groups = append(groups, a.externalGroup())
	}
	for _, group := range groups {
		if err := group.installOn(server); err != nil {
			return err
		}
		group.publish(server)
		a.relay.OnCatalogueChange(func() { group.publish(server) })
	}
	return nil
}

// installOwnOn adds the APIs that nobody else serves.
func (a *Adapter) installOwnOn(server *genericapiserver.GenericAPIServer) error {
	var groups []genericapiserver.APIGroupInfo
	if a.members != nil {
		group, err := a.members.Group()
		if err != nil {
			return err
		}
		groups = append(groups, group)
	}
	if a.history != nil {
		group, err := a.history.Group(server.Authorizer)
		if err != nil {
			return err
		}
		groups = append(groups, group)
	}
	for i := range groups {
		if err := server.InstallAPIGroup(&groups[i]); err != nil {
			return fmt.Errorf("installing %s: %w", groups[i].PrioritizedVersions[0].Group, err)
		}
	}
	return nil
}

func (a *Adapter) group() (genericapiserver.APIGroupInfo, error) {
	scheme, codecs := newScheme()
	group := genericapiserver.NewDefaultAPIGroupInfo(groupName, scheme, metav1.ParameterCodec, codecs)
	writers, err := newWriters(group.NegotiatedSerializer)
	if err != nil {
		return group, err
	}
	storage := map[string]rest.Storage{"pods": &podStorage{storage{a}, writers}, "nodes": &nodeStorage{storage{a}}}
	group.VersionedResourcesStorageMap[metricsv1.SchemeGroupVersion.Version] = storage
	group.VersionedResourcesStorageMap[metricsv1beta1.SchemeGroupVersion.Version] = storage
	return group, nil
}

func newScheme() (*runtime.Scheme, serializer.CodecFactory) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return scheme, serializer.NewCodecFactory(scheme)
}

// SPDX-License-Identifier: Apache-2.0

package historyapi

import (
	"context"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	registryrest "k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	autoscaling "github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/apis/history/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Options of a History.
type Options struct {
	// Ask returns the record of an object from a time on, which ends with an error unless it is whole.
	Ask func(ctx context.Context, object recording.Object, since time.Time) (io.ReadCloser, error)
	// Scope is the namespaces that are answered for.
	Scope tenancy.Scope
}

// History serves what is kept of autoscalers.
type History struct {
	Options

	places places
}

// New returns a history.
func New(o Options) *History { return &History{Options: o} }

// AddToScheme makes scheme know what is served.
func AddToScheme(scheme *runtime.Scheme) error { return v1alpha1.AddToScheme(scheme) }

// Group is the API group, for an API server whose authorizer knows who may read what on the hub.
func (h *History) Group(hub authorizer.UnconditionalAuthorizer) (genericapiserver.APIGroupInfo, error) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return genericapiserver.APIGroupInfo{}, err
	}
	metav1.AddToGroupVersion(scheme, metav1.Unversioned)
	group := genericapiserver.NewDefaultAPIGroupInfo(v1alpha1.GroupName, scheme, metav1.ParameterCodec, serializer.NewCodecFactory(scheme))
	resources := map[string]registryrest.Storage{}
	for _, of := range []storage{
		{v1alpha1.FederatedHPAs, "federatedhpa", autoscaling.FederatedHPAKind, recording.Replicas,
			func() runtime.Object { return &v1alpha1.FederatedHPAHistory{} }},
		{v1alpha1.MultidimPodAutoscalers, "multidimpodautoscaler", autoscaling.MultidimPodAutoscalerKind, recording.SizesKind,
			func() runtime.Object { return &v1alpha1.MultidimPodAutoscalerHistory{} }},
	} {
		resources[of.resource], resources[of.resource+"/"+v1alpha1.Decisions] = of, decisions{storage: of, history: h, hub: hub}
	}
	group.VersionedResourcesStorageMap[v1alpha1.SchemeGroupVersion.Version] = resources
	return group, nil
}

// storage is a resource, which has no verb of its own: it is there for its subresources. It has the name of the autoscalers' own.
type storage struct {
	resource, singular string
	// of is the kind of the autoscaler, and kind that of its decisions.
	of   string
	kind recording.Kind
	past func() runtime.Object
}

var (
	_ registryrest.Storage              = storage{}
	_ registryrest.Scoper               = storage{}
	_ registryrest.SingularNameProvider = storage{}
)

func (s storage) New() runtime.Object     { return s.past() }
func (storage) NamespaceScoped() bool     { return true }
func (s storage) GetSingularName() string { return s.singular }

// Destroy implements [registryrest.Storage]: there is nothing to end.
func (storage) Destroy() {}

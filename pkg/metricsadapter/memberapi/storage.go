// SPDX-License-Identifier: Apache-2.0

package memberapi

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	registryrest "k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
)

// storage is the resource members.
type storage struct{ store *Store }

var (
	_ registryrest.Storage              = storage{}
	_ registryrest.Scoper               = storage{}
	_ registryrest.SingularNameProvider = storage{}
	_ registryrest.ShortNamesProvider   = storage{}
	_ registryrest.Lister               = storage{}
	_ registryrest.Getter               = storage{}
	_ registryrest.Watcher              = storage{}
)

// AddToScheme makes scheme know what is served.
func AddToScheme(scheme *runtime.Scheme) error { return v1alpha1.AddToScheme(scheme) }

// Group is the API group, for an API server.
func (s *Store) Group() (genericapiserver.APIGroupInfo, error) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return genericapiserver.APIGroupInfo{}, err
	}
	metav1.AddToGroupVersion(scheme, metav1.Unversioned)
	group := genericapiserver.NewDefaultAPIGroupInfo(v1alpha1.GroupName, scheme, metav1.ParameterCodec, serializer.NewCodecFactory(scheme))
	group.VersionedResourcesStorageMap[v1alpha1.SchemeGroupVersion.Version] = map[string]registryrest.Storage{"members": storage{s}}
	return group, nil
}

func (storage) New() runtime.Object     { return &v1alpha1.Member{} }
func (storage) NewList() runtime.Object { return &v1alpha1.MemberList{} }
func (storage) NamespaceScoped() bool   { return false }
func (storage) GetSingularName() string { return "member" }
func (storage) ShortNames() []string    { return []string{"mbr"} }

// Destroy implements [registryrest.Storage]: there is nothing to end.
func (storage) Destroy() {}

// List answers with the members by name. Their number is not limited by what the client asks for.
func (s storage) List(_ context.Context, o *metainternalversion.ListOptions) (runtime.Object, error) {
	members, version := s.store.present()
	if err := s.mayList(o, version); err != nil {
		return nil, err
	}
	selects := selected(o)
	list := &v1alpha1.MemberList{ListMeta: metav1.ListMeta{ResourceVersion: versionText(version)}, Items: []v1alpha1.Member{}}
	for _, m := range members {
		if selects.matches(m) {
			list.Items = append(list.Items, *m.DeepCopy())
		}
	}
	return list, nil
}

// mayList is nil if a list of the present version is what is asked for.
func (s storage) mayList(o *metainternalversion.ListOptions, present uint64) error {
	if o == nil {
		return nil
	}
	version, err := parseVersion(o.ResourceVersion)
	if err != nil {
		return err
	}
	if err := s.store.check(version); err != nil {
		return err
	}
	if o.ResourceVersionMatch == metav1.ResourceVersionMatchExact && version != present {
		return tooOld(version)
	}
	if o.Continue != "" {
		return apierrors.NewResourceExpired("members are listed in one page; list again without continue")
	}
	return nil
}

// Get answers with the member of that name.
func (s storage) Get(_ context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	members, _ := s.store.present()
	for _, m := range members {
		if m.Name == name {
			return m.DeepCopy(), nil
		}
	}
	return nil, apierrors.NewNotFound(v1alpha1.Resource("members"), name)
}

// Watch tells of changes.
func (s storage) Watch(ctx context.Context, o *metainternalversion.ListOptions) (watch.Interface, error) {
	if o == nil {
		o = &metainternalversion.ListOptions{}
	}
	return s.store.watch(ctx, o)
}

// ConvertToTable makes what kubectl get prints.
func (storage) ConvertToTable(_ context.Context, object runtime.Object, options runtime.Object) (*metav1.Table, error) {
	return tableOf(object, options), nil
}

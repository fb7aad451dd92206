// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

const (
	// mostDocument bounds the bytes of one document of a cluster's discovery. That of a thousand kinds has less than one MiB.
	mostDocument = 16 << 20
	// documentTime bounds the time that is spent on one, waiting for room included.
	documentTime = 10 * time.Second
)

// documents is a discovery client that checks what it decodes. The library's decodes the documents of groups itself, and has all
// others decoded by the client of the connection, which checks them.
type documents struct {
	*discovery.DiscoveryClient

	client  rest.Interface
	reading *Reading
}

var _ discovery.AggregatedDiscoveryInterface = documents{}

// document is what one of them says.
type document struct {
	groups    []metav1.APIGroup
	resources map[schema.GroupVersion]*metav1.APIResourceList // nil: it does not say
	failed    map[schema.GroupVersion]error
}

// ServerGroupsWithContext is as discovery.ServerGroupsInterfaceWithContext has it.
func (d documents) ServerGroupsWithContext(ctx context.Context) (*metav1.APIGroupList, error) {
	groups, _, _, err := d.GroupsAndMaybeResourcesWithContext(ctx)
	return groups, err
}

// ServerGroups is as discovery.ServerGroupsInterface has it.
func (d documents) ServerGroups() (*metav1.APIGroupList, error) {
	return d.ServerGroupsWithContext(context.Background()) //nolint:forbidigo // the interface gives none
}

// GroupsAndMaybeResources is as discovery.AggregatedDiscoveryInterface has it.
func (d documents) GroupsAndMaybeResources() (*metav1.APIGroupList, map[schema.GroupVersion]*metav1.APIResourceList,
	map[schema.GroupVersion]error, error) {
	return d.GroupsAndMaybeResourcesWithContext(context.Background()) //nolint:forbidigo // nor does this one
}

// GroupsAndMaybeResourcesWithContext is as discovery.AggregatedDiscoveryInterfaceWithContext has it: resources are nil unless
// both documents have them.
func (d documents) GroupsAndMaybeResourcesWithContext(ctx context.Context) (*metav1.APIGroupList,
	map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error, error) {
	core, err := d.read(ctx, "/api", decodeVersions)
	if err != nil {
		return nil, nil, nil, err
	}
	named, err := d.read(ctx, "/apis", decodeGroups)
	if err != nil {
		return nil, nil, nil, err
	}
	all := document{groups: append(core.groups, named.groups...), failed: map[schema.GroupVersion]error{}}
	if core.resources != nil && named.resources != nil {
		all.resources = core.resources
		maps.Copy(all.resources, named.resources)
	}
	maps.Copy(all.failed, core.failed)
	maps.Copy(all.failed, named.failed)
	return &metav1.APIGroupList{Groups: all.groups}, all.resources, all.failed, nil
}

// read reads a document in the form of today, or else in that of before Kubernetes 1.30. One that is not there is empty: servers
// without one of both exist.
func (d documents) read(ctx context.Context, path string, plain func([]byte) (document, error)) (document, error) {
	ctx, cancel := context.WithTimeout(ctx, documentTime)
	defer cancel()
	var contentType string
	body, err := d.client.Get().AbsPath(path).SetHeader("Accept", discovery.AcceptV2+","+discovery.AcceptV1).Do(ctx).
		ContentType(&contentType).Raw()
	switch {
	case apierrors.IsNotFound(err):
		return document{resources: map[schema.GroupVersion]*metav1.APIResourceList{}}, nil
	case err != nil:
		return document{}, err
	case len(body) > mostDocument:
		return document{}, d.reading.intake.offended(offenceTooLarge, fleet.Silencef(fleet.ReasonTooLarge, "%s is larger than %s", path,
			resource.NewQuantity(mostDocument, resource.BinarySI)))
	}
	check, decode := checkPlain, plain
	kind := apidiscoveryv2.SchemeGroupVersion.WithKind("APIGroupDiscoveryList")
	if aggregated, _ := discovery.ContentTypeIsGVK(contentType, kind); aggregated {
		check, decode = checkAggregated, decodeAggregated
	}
	return Decode(ctx, d.reading, body, check, decode)
}

// checkPlain and checkAggregated allow for what is made of the documents, too.
func checkPlain(body []byte) (int64, error) {
	versions, err := TypeOf(&metav1.APIVersions{}).JSON(body)
	if err != nil {
		return 0, err
	}
	groups, err := TypeOf(&metav1.APIGroupList{}).JSON(body)
	return 3 * max(versions, groups), err
}

func checkAggregated(body []byte) (int64, error) {
	bytes, err := TypeOf(&apidiscoveryv2.APIGroupDiscoveryList{}).JSON(body)
	return 3 * bytes, err
}

func decodeAggregated(body []byte) (document, error) {
	var list apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(body, &list); err != nil {
		return document{}, BadAnswer("decoding what is served", err)
	}
	groups, resources, failed := discovery.SplitGroupsAndResources(list)
	return document{groups.Groups, resources, failed}, nil
}

func decodeGroups(body []byte) (document, error) {
	var list metav1.APIGroupList
	if err := json.Unmarshal(body, &list); err != nil {
		return document{}, BadAnswer("decoding the groups that are served", err)
	}
	return document{groups: list.Groups}, nil
}

func decodeVersions(body []byte) (document, error) {
	var served metav1.APIVersions
	if err := json.Unmarshal(body, &served); err != nil {
		return document{}, BadAnswer("decoding the versions that are served", err)
	}
	core := metav1.APIGroup{}
	for _, v := range served.Versions {
		core.Versions = append(core.Versions, metav1.GroupVersionForDiscovery{GroupVersion: v, Version: v})
	}
	if len(core.Versions) > 0 {
		core.PreferredVersion = core.Versions[0]
	}
	return document{groups: []metav1.APIGroup{core}}, nil
}

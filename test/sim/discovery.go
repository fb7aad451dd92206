// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// serveDiscovery tells what is served, in JSON, as a kube-apiserver that does not have it in one piece.
func (m *Member) serveDiscovery(w http.ResponseWriter, r *http.Request) {
	found, ok := m.discover(strings.Trim(r.URL.Path, "/"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	body, err := json.Marshal(found)
	if err != nil {
		panic(err) // no document of discovery can fail so
	}
	send(w, r, http.StatusOK, mediaJSON, body)
}

func (m *Member) discover(path string) (document any, ok bool) {
	root, rest, _ := strings.Cut(path, "/")
	group, version, _ := strings.Cut(rest, "/")
	switch {
	case path == "version":
		return serverVersion(), true
	case root == "openapi":
		return schemas(rest)
	case path == "api":
		return metav1.APIVersions{TypeMeta: typed("APIVersions"), Versions: []string{"v1"}}, true
	case path == "apis":
		list := metav1.APIGroupList{TypeMeta: typed("APIGroupList")}
		for _, name := range slices.Sorted(maps.Keys(versions())) {
			list.Groups = append(list.Groups, groupOf(name))
		}
		return list, true
	case root == "api":
		return m.resourcesOf(schema.GroupVersion{Version: rest})
	case root == "apis" && version == "":
		found := groupOf(group)
		found.TypeMeta = typed("APIGroup")
		return found, len(found.Versions) > 0
	case root == "apis":
		return m.resourcesOf(schema.GroupVersion{Group: group, Version: version})
	}
	return nil, false
}

func typed(kind string) metav1.TypeMeta { return metav1.TypeMeta{Kind: kind, APIVersion: "v1"} }

func serverVersion() version.Info {
	return version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.1", Platform: "linux/amd64"}
}

// versions returns those of each group that has a name, the preferred one first.
func versions() map[string][]string {
	all := map[string][]string{
		metricsGroup: {"v1beta1"}, customGroup: {"v1beta2", "v1beta1"}, externalGroup: {"v1beta1"},
		authenticationGroup: {"v1"}, authorizationGroup: {"v1"},
	}
	for _, s := range servedResources() {
		if s.Group != "" && !slices.Contains(all[s.Group], s.Version) {
			all[s.Group] = append(all[s.Group], s.Version)
		}
	}
	return all
}

func groupOf(name string) metav1.APIGroup {
	group := metav1.APIGroup{Name: name}
	for _, version := range versions()[name] {
		gv := schema.GroupVersion{Group: name, Version: version}
		group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: version})
	}
	if len(group.Versions) > 0 {
		group.PreferredVersion = group.Versions[0]
	}
	return group
}

func (m *Member) resourcesOf(gv schema.GroupVersion) (metav1.APIResourceList, bool) {
	list := metav1.APIResourceList{TypeMeta: typed("APIResourceList"), GroupVersion: gv.String(), APIResources: []metav1.APIResource{}}
	for _, s := range servedResources() {
		if s.GroupVersion == gv {
			list.APIResources = append(list.APIResources, s.discovered()...)
		}
	}
	read := metav1.Verbs{"get", "list"}
	switch gv.Group {
	case metricsGroup:
		list.APIResources = append(list.APIResources,
			metav1.APIResource{Name: "nodes", Kind: "NodeMetrics", Verbs: read},
			metav1.APIResource{Name: "pods", Namespaced: true, Kind: "PodMetrics", Verbs: read})
	case customGroup, externalGroup:
		list.APIResources = append(list.APIResources, m.listed(gv.Group)...)
	}
	return list, gv.Group == "" && gv.Version == "v1" || slices.Contains(versions()[gv.Group], gv.Version)
}

// SPDX-License-Identifier: Apache-2.0

package commandtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Hub tells which kinds it serves, and answers all else with 503.
type Hub struct {
	mu     sync.Mutex
	agents []string
}

// StartHub returns a hub, and the path of a kubeconfig for it.
func StartHub(t *testing.T) (hub *Hub, kubeconfig string) {
	t.Helper()
	hub = &Hub{}
	return hub, Serve(t, hub)
}

// Serve returns the path of a kubeconfig for a hub.
func Serve(t *testing.T, hub http.Handler) (kubeconfig string) {
	t.Helper()
	server := httptest.NewServer(hub)
	t.Cleanup(server.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"] = &clientcmdapi.Cluster{Server: server.URL}
	config.Contexts["hub"] = &clientcmdapi.Context{Cluster: "hub"}
	config.CurrentContext = "hub"
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// Agents are the User-Agents of all requests so far, each once.
func (h *Hub) Agents() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.agents)
}

func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.note(r.UserAgent())
	w.Header().Set("Content-Type", "application/json")
	told := kinds(r.URL.Path)
	if told == nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		told = metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonServiceUnavailable, Code: http.StatusServiceUnavailable}
	}
	_ = json.NewEncoder(w).Encode(told) // who has gone needs no answer
}

func (h *Hub) note(agent string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(h.agents, agent) {
		h.agents = append(h.agents, agent)
	}
}

// kinds is the part of the discovery at a path, or nil.
func kinds(path string) any {
	served := map[string][]string{
		"autoscaling/v2":                  {"HorizontalPodAutoscaler"},
		"autoscaling.karmada.io/v1alpha1": {"FederatedHPA", "CronFederatedHPA", "MultidimPodAutoscaler", "MultidimPodAutoscalerHistory"},
	}
	switch path {
	case "/api":
		return metav1.APIVersions{}
	case "/apis":
		var groups metav1.APIGroupList
		for version := range served {
			group, v, _ := strings.Cut(version, "/")
			groups.Groups = append(groups.Groups,
				metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: version, Version: v}}})
		}
		return groups
	}
	version := strings.TrimPrefix(path, "/apis/")
	if served[version] == nil {
		return nil
	}
	resources := metav1.APIResourceList{GroupVersion: version}
	for _, kind := range served[version] {
		resources.APIResources = append(resources.APIResources, metav1.APIResource{
			Name: strings.ToLower(kind) + "s", Kind: kind, Namespaced: true, Verbs: metav1.Verbs{"get", "list", "watch"},
		})
	}
	return resources
}

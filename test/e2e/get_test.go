// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestGetPodMetricsHasAColumnForTheCluster(t *testing.T) {
	e := whole(t)
	for _, output := range [][]string{nil, {"-o", "wide"}} {
		said := e.kubectl(t, append([]string{"get", "podmetrics", "-n", shop, "-l", "app=web"}, output...)...)
		header, _, _ := strings.Cut(said.Stdout, "\n")
		if got, want := strings.Fields(header), []string{"NAME", "CLUSTER", "CPU", "MEMORY", "WINDOW"}; !cmp.Equal(got, want) {
			t.Errorf("the header %v is %v, want %v", output, got, want)
		}
		want := []string{
			"web-0 member1", "web-0 member2", "web-0 member3",
			"web-1 member1", "web-1 member2", "web-1 member3",
		}
		fleettest.Same(t, fmt.Sprintf("names and clusters %v", output), want, firsts(said.Stdout, 2))
	}
}

func TestGetNodeMetricsHasAColumnForTheCluster(t *testing.T) {
	e := whole(t)
	said := e.kubectl(t, "get", "nodemetrics")
	want := []string{
		"member1-node1 member1", "member1-node2 member1",
		"member2-node1 member2", "member2-node2 member2",
		"member3-node1 member3", "member3-node2 member3",
	}
	fleettest.Same(t, "names and clusters", want, firsts(said.Stdout, 2))
	said = e.kubectl(t, "get", "nodemetrics", "member2-node1", "-o", "jsonpath={.metadata.labels.fleetscale\\.io/cluster}")
	if said.Stdout != "member2" {
		t.Errorf("the label of member2-node1 names cluster %q", said.Stdout)
	}
}

// JSON and YAML carry the cluster as a label, and where karmadactl expects it.
func TestGetByNameAsJSONAndYAML(t *testing.T) {
	e := whole(t)
	for format, decode := range map[string]func([]byte, *metricsv1beta1.PodMetrics) error{
		"json": func(data []byte, pod *metricsv1beta1.PodMetrics) error { return json.Unmarshal(data, pod) },
		"yaml": func(data []byte, pod *metricsv1beta1.PodMetrics) error { return yaml.Unmarshal(data, pod) },
	} {
		t.Run(format, func(t *testing.T) {
			said := e.kubectl(t, "get", "podmetrics", "-n", shop, "only-member2", "-o", format)
			var pod metricsv1beta1.PodMetrics
			if err := decode([]byte(said.Stdout), &pod); err != nil {
				t.Fatal(err)
			}
			wantLabels := map[string]string{"app": "only", "fleetscale.io/cluster": "member2"}
			fleettest.Same(t, "labels", wantLabels, pod.Labels)
			if got := pod.Annotations["resource.karmada.io/query-from-cluster"]; got != "member2" {
				t.Errorf("the annotation names cluster %q", got)
			}
			if len(pod.Containers) != 1 || pod.Containers[0].Name != "only" || pod.Containers[0].Usage.Cpu().IsZero() {
				t.Errorf("containers are %+v", pod.Containers)
			}
		})
	}
}

// A StatefulSet's pods have the same names everywhere. To get one by name is
// refused, with the clusters that have it and a command that tells them apart.
func TestGetOfANameInSeveralClustersIsRefused(t *testing.T) {
	e := whole(t)
	v := e.query(t, shopPath+"/web-0")
	if v.Code != http.StatusConflict {
		t.Fatalf("%d %s, want 409", v.Code, v.Message)
	}
	_, err := e.Ask(t.Context(), "get", "podmetrics", "-n", shop, "web-0")
	if err == nil || !strings.Contains(err.Error(), "it exists in 3 clusters: member1, member2, member3") {
		t.Fatalf("kubectl says %v", err)
	}
	advice := regexp.MustCompile(`kubectl (\S.*)`).FindStringSubmatch(v.Message)
	if advice == nil {
		t.Fatalf("no command in %q", v.Message)
	}
	said := e.kubectl(t, strings.Fields(advice[1])...)
	fleettest.Same(t, "kubectl "+advice[1], []string{"web-0"}, firsts(said.Stdout, 1))
}

// kubectl top with a field selector searches Pods on the hub, and keeps their
// metrics only. kubectl get leaves it to the adapter.
func TestGetByField(t *testing.T) {
	e := whole(t)
	said := e.kubectl(t, "get", "podmetrics", "-n", shop, "--field-selector", "metadata.name=web-1")
	fleettest.Same(t, "names and clusters", []string{"web-1 member1", "web-1 member2", "web-1 member3"}, firsts(said.Stdout, 2))
}

func TestGetOfANameInNoClusterIsNotFound(t *testing.T) {
	e := whole(t)
	for _, path := range []string{shopPath + "/nobody", v1beta1 + "/nodes/nobody"} {
		if v := e.query(t, path); v.Code != http.StatusNotFound {
			t.Errorf("GET %s: %d %s, want 404", path, v.Code, v.Message)
		}
	}
}

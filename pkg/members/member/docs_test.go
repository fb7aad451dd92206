// SPDX-License-Identifier: Apache-2.0

package member

import (
	"os"
	"regexp"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

// TestDocs holds docs/members.md to what people can meet: reasons, metrics,
// flags in messages, and what a Secret may say.
func TestDocs(t *testing.T) {
	docs := readFile(t, "../../../docs/members.md")
	sources := ""
	for _, file := range []string{
		"member.go", "entry.go", "../connection/wire.go", "../connection/peer.go", "../../../cmd/metrics-adapter/app/run.go",
		"../../registration/registration.go", "../../registration/secret.go", "../../registration/topology.go",
		"../../registration/prices.go", "../../registration/kubeconfig.go",
	} {
		sources += readFile(t, file)
	}
	wanted := find(sources+readFile(t, "../../fleet/silence.go"), `fleet\.Reason += "(\w+)"`, `Reason\w+ +Reason = "(\w+)"`,
		`(--[a-z]+-[a-z-]+[a-z])`, `"(fleetscale\.io/[a-z-]+)"`)
	if len(wanted) < 25 {
		t.Fatalf("only %d words found in the sources: the search is wrong", len(wanted))
	}
	descriptions := make(chan *prometheus.Desc, 100)
	registry := prometheus.NewRegistry()
	NewMetrics(registry)
	registry.Describe(descriptions)
	close(descriptions)
	for d := range descriptions {
		wanted = append(wanted, find(d.String(), `fqName: "(\w+)"`)...)
	}
	for _, word := range wanted {
		// A sample's age is no member's state.
		if word != "Stale" && !regexp.MustCompile(`(^|[^\w-])`+word+`($|[^\w-])`).MatchString(docs) {
			t.Errorf("docs/members.md does not mention %s", word)
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// find returns the first group of each match.
func find(text string, patterns ...string) []string {
	var found []string
	for _, pattern := range patterns {
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			found = append(found, match[1])
		}
	}
	return found
}

// The example that fills our own data centre before the cloud does so for clusters that Secrets register.
func TestDocumentedProvidersAreFilledInTheirOrder(t *testing.T) {
	object := &v1alpha1.FederatedHPA{}
	if err := yaml.UnmarshalStrict([]byte(readFile(t, "../../../docs/examples/distributed.yaml")), object); err != nil {
		t.Fatal(err)
	}
	source := registration.Sources(registration.Options{Namespace: "fleet"})[0]
	var facts []assignment.ClusterFacts
	for name, provider := range map[string]string{"cellar": "on-premises", "sky": "acme", "untold": ""} {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(registrationtest.Secret(registrationtest.Kubeconfig(t),
			registrationtest.Named(name),
			registrationtest.Annotated("fleetscale.io/provider", provider), func(s *corev1.Secret) {
				s.Labels["tier"] = "production"
			}))
		if err != nil {
			t.Fatal(err)
		}
		r := source.Read(&unstructured.Unstructured{Object: content}).Register(registration.Credentials{})
		facts = append(facts, assignment.ClusterFacts{Name: name, Labels: r.Labels, Provider: r.Topology.Provider})
	}
	a := object.Spec.FederatedHPAAssignment
	policy := assignment.Policy(a.FederatedHPAAssignmentType)
	preferences, err := assignment.Preferences(policy, a.ClusterAutoscalingPreference, facts)
	if err != nil {
		t.Fatal(err)
	}
	q := assignment.AssignQuestion{Policy: policy, UID: "uid", Min: *object.Spec.MinReplicas, Max: object.Spec.MaxReplicas}
	for _, f := range facts {
		if selected, err := assignment.Matches(object.Spec.ClusterAffinity, f); err != nil || !selected {
			t.Errorf("%s is not selected: %v", f.Name, err)
		}
		capacity := map[string]int32{"cellar": 20, "sky": 30, "untold": 5}[f.Name]
		q.Clusters = append(q.Clusters, assignment.Cluster{Name: f.Name, Preference: preferences[f.Name], Capacity: &capacity})
	}
	got := map[string]int32{}
	for name, b := range assignment.Assign(q).Bounds {
		got[name] = b.Max
	}
	fleettest.Same(t, "maxima", map[string]int32{"cellar": 20, "sky": 19, "untold": 1}, got)
}

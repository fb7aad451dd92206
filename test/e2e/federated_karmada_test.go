// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// An upgrade of Karmada brings its own kinds back, which know fewer fields. Then
// nothing is done, and the programs say why, until ours are there again.
func (s *stage) schemaOfOthers() {
	s.queue("20")
	s.apply("hub", webOf(s.kind, 1, true)) // scaled by whoever takes the object for one without replicaDistribution
	s.runIn(1, "member1", "member2")
	s.autoscale("minReplicas: 2, maxReplicas: 10, metrics: [" + s.byQueue(10) +
		"], clusterAffinity: {clusterNames: [member1, member2]}, replicaDistribution: {}")
	s.comes("it has seen the queue", says(active+"=True/ValidMetricFound"))

	s.bringKarmadaKinds()
	s.queue("30") // who writes a status now that they have seen nothing yet would lose what ours say
	s.seesKarmadaKinds()
	was, err := s.told(s.t.Context(), "hub", "member1", "member2")
	if err != nil {
		s.t.Fatal(err)
	}
	s.queue("60")
	s.stays(3*syncPeriod, was)

	if err := s.InstallKinds(s.t.Context(), s.Hub()); err != nil {
		s.t.Fatal(err)
	}
	s.runs("hub 1, member1 3, member2 3")
	s.comes("it is as it was", isIn(v1alpha1.StateActive), hasClusters("member1 Active 3, member2 Active 3"))
}

// bringKarmadaKinds has the hub serve Karmada's kinds, as an upgrade of it does.
func (s *stage) bringKarmadaKinds() {
	s.t.Helper()
	if _, err := s.Feed(s.t.Context(), s.karmadaKinds(), "apply", "--server-side", "--force-conflicts", "-f", "-"); err != nil {
		s.t.Fatal(err)
	}
}

// seesKarmadaKinds waits until both programs do nothing and say why.
func (s *stage) seesKarmadaKinds() {
	s.t.Helper()
	for _, r := range s.pair {
		eventually(s.t, r.Name+" is not ready, and says why", func(ctx context.Context) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Health("/readyz/schema?verbose"), nil)
			if err != nil {
				return err
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				return err
			}
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			if err == nil && response.StatusCode == http.StatusOK {
				err = fmt.Errorf("%d %s", response.StatusCode, text)
			}
			return err
		})
		log, err := os.ReadFile(r.Log)
		if err != nil || !strings.Contains(string(log), "the hub drops fields of FederatedHPA: spec.clusterAffinity, ") {
			s.t.Errorf("the log of %s does not say what is missing (%v)", r.Name, err)
		}
	}
}

// karmadaKinds are both CustomResourceDefinitions with the fields that Karmada knows.
func (s *stage) karmadaKinds() string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.Repository, "pkg/hub/served/testdata/karmada.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &document); err != nil {
		s.t.Fatal(err)
	}
	var all []string
	for kind, plural := range map[string]string{"FederatedHPA": "federatedhpas", "CronFederatedHPA": "cronfederatedhpas"} {
		text, err := os.ReadFile(s.Deploy("crds/autoscaling.karmada.io_" + plural + ".yaml"))
		if err != nil {
			s.t.Fatal(err)
		}
		crd := map[string]any{}
		if err := yaml.Unmarshal(text, &crd); err != nil {
			s.t.Fatal(err)
		}
		own := document.Components.Schemas["io.karmada.autoscaling.v1alpha1."+kind]
		delete(own, "x-kubernetes-group-version-kind")
		version := crd["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
		version["schema"] = map[string]any{"openAPIV3Schema": inlined(own)}
		delete(version, "additionalPrinterColumns")
		if text, err = yaml.Marshal(crd); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return strings.Join(all, "\n---\n")
}

// inlined is a schema as a CustomResourceDefinition may have it: metadata is an
// object, and what refers elsewhere is of any form.
func inlined(value any) any {
	switch value := value.(type) {
	case map[string]any:
		if _, refers := value["allOf"]; refers {
			return map[string]any{"type": "object"}
		}
		if _, refers := value["$ref"]; refers {
			return map[string]any{"x-kubernetes-preserve-unknown-fields": true}
		}
		all := map[string]any{}
		for name, part := range value {
			if !strings.HasPrefix(name, "x-kubernetes-list-") { // they want keys to have what the document leaves out
				all[name] = inlined(part)
			}
		}
		return all
	case []any:
		for i := range value {
			value[i] = inlined(value[i])
		}
	}
	return value
}

// bindingKind is Karmada's, of any schema.
const bindingKind = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: resourcebindings.work.karmada.io}
spec:
  group: work.karmada.io
  scope: Namespaced
  names: {kind: ResourceBinding, plural: resourcebindings}
  versions: [{name: v1alpha2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// On a hub of Karmada's only the clusters count where Karmada has placed the workload.
func (s *stage) placedByKarmada() {
	for _, r := range s.pair {
		if err := r.Stop(); err != nil {
			s.t.Fatal(err)
		}
	}
	s.t.Cleanup(func() {
		_, _ = s.Ask(afterwards(s.t), "delete", "crd/resourcebindings.work.karmada.io", "--ignore-not-found", "--wait=false")
		_, _ = s.Ask(afterwards(s.t), "delete", "-f", s.Deploy("overlays/karmada/controller-manager/placements.yaml"), "--ignore-not-found")
	})
	s.feed(s.t, bindingKind)
	s.kubectl(s.t, "wait", "--for=condition=Established", "--timeout=60s", "crd/resourcebindings.work.karmada.io")
	s.kubectl(s.t, "apply", "-f", s.Deploy("overlays/karmada/controller-manager/placements.yaml"))
	s.restartAll(s.t)

	s.queue("20")
	s.apply("hub", webOf(s.kind, 4, true))
	s.runIn(2, allMembers()...)
	// Twice as much as is wanted calls for twice the Pods that are Ready.
	s.autoscale("minReplicas: 1, maxReplicas: 20, metrics: [" + strings.NewReplacer("AverageValue", "Value", "averageValue",
		"value").Replace(s.byQueue(10)) + "]")
	s.comes("it is not placed", isIn(v1alpha1.StateFailing),
		says(able+"=False/FailedGetScale", `karmada does not propagate it: there is no ResourceBinding "web-deployment"`))
	s.apply("hub", `
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: web-deployment}
spec: {replicas: 4, clusters: [{name: member1, replicas: 2}, {name: member3, replicas: 2}]}
`)
	s.runs("hub 8")
	s.comes("only two count", hasClusters("member1 Active 2, member3 Active 2"), isAssigned("2 2"), says(visible+"=True/AllClustersVisible"))
	s.stays(3*syncPeriod, "hub 8")

	if err := s.resource("hub", "work.karmada.io/v1alpha2", "ResourceBinding").Delete(s.t.Context(), "web-deployment",
		metav1.DeleteOptions{}); err != nil {
		s.t.Fatal(err)
	}
	s.comes("it is no longer placed", isIn(v1alpha1.StateFailing))
}

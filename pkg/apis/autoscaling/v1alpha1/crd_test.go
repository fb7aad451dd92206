// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

const crds = "../../../../deploy/crds/autoscaling.karmada.io_"

// crd is the part of a CustomResourceDefinition that the tests check.
type crd struct {
	Spec struct {
		Scope string
		Names struct {
			Kind, Plural           string
			ShortNames, Categories []string
		}
		Versions []struct {
			Name                     string
			Served, Storage          bool
			Subresources             map[string]any
			AdditionalPrinterColumns []struct {
				Name, JSONPath, Type string
				Priority             int
			}
			Schema struct{ OpenAPIV3Schema node }
		}
	}
}

// node is a JSON schema, as it is written.
type node map[string]any

func readCRD(t *testing.T, plural string) crd {
	t.Helper()
	text, err := os.ReadFile(crds + plural + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	read := crd{}
	if err := yaml.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if len(read.Spec.Versions) != 1 {
		t.Fatalf("%s: %d versions", plural, len(read.Spec.Versions))
	}
	return read
}

func TestWhatKubectlGetShows(t *testing.T) {
	tests := map[string]struct {
		names string
		want  []string // columns; those of -o wide in brackets
	}{
		"federatedhpas": {"FederatedHPA Namespaced [fhpa] [karmada-io autoscaling]", []string{
			"REFERENCE-KIND .spec.scaleTargetRef.kind", "REFERENCE-NAME .spec.scaleTargetRef.name", "TARGETS .status.summary.targets",
			"MINPODS .spec.minReplicas", "MAXPODS .spec.maxReplicas", "REPLICAS .status.currentReplicas", "READY .status.readyReplicas",
			"CLUSTERS .status.summary.clusters", "STATE .status.summary.state", "AGE .metadata.creationTimestamp",
			"[MODE .spec.mode]", "[DESIRED .status.desiredReplicas]", "[LAST-SCALE .status.lastScaleTime]",
			`[REASON .status.conditions[?(@.type=="ScalingActive")].reason]`}},
		"cronfederatedhpas": {"CronFederatedHPA Namespaced [cronfhpa] [karmada-io autoscaling]", []string{
			"REFERENCE-KIND .spec.scaleTargetRef.kind", "REFERENCE-NAME .spec.scaleTargetRef.name", "NEXT .status.summary.next",
			"LAST .status.summary.last", "SUSPENDED .status.summary.suspended", "AGE .metadata.creationTimestamp",
			"[LAST-RUN .status.lastExecutionTime]", `[MESSAGE .status.conditions[?(@.type=="Ready")].message]`}},
		"multidimpodautoscalers": {"MultidimPodAutoscaler Namespaced [mpa] [karmada-io autoscaling]", []string{
			"TARGET .status.summary.target", "MODE .spec.policy.updateMode", "REPLICAS .status.currentReplicas", "SIZED .status.summary.sized",
			"CPU .status.summary.cpu", "MEMORY .status.summary.memory", "SAVINGS .status.summary.savings", "STATE .status.summary.state",
			"AGE .metadata.creationTimestamp", "[DESIRED .status.desiredReplicas]", "[LAST-SCALE .status.lastScaleTime]",
			`[REASON .status.conditions[?(@.type=="RecommendationProvided")].reason]`}},
	}
	for plural, tc := range tests {
		t.Run(plural, func(t *testing.T) {
			spec := readCRD(t, plural).Spec
			names := strings.Join([]string{spec.Names.Kind, spec.Scope, list(spec.Names.ShortNames), list(spec.Names.Categories)}, " ")
			if names != tc.names {
				t.Errorf("names are %s, want %s", names, tc.names)
			}
			version := spec.Versions[0]
			if _, status := version.Subresources["status"]; !status || !version.Served || !version.Storage || version.Name != "v1alpha1" {
				t.Errorf("version %+v is not a served v1alpha1 with status", version.Name)
			}
			var columns []string
			for _, c := range version.AdditionalPrinterColumns {
				column := c.Name + " " + c.JSONPath
				if c.Priority > 0 {
					column = "[" + column + "]"
				}
				columns = append(columns, column)
			}
			fleettest.Same(t, "columns", tc.want, columns)
		})
	}
}

func list(words []string) string { return "[" + strings.Join(words, " ") + "]" }

// A list or a string of any size would let one object fill the hub, and make the API server refuse our rules for what
// they might cost; a field without a description leaves `kubectl explain` silent.
func TestEveryFieldIsBoundedAndExplained(t *testing.T) {
	for plural, least := range map[string]int{"federatedhpas": 40, "cronfederatedhpas": 40, "multidimpodautoscalers": 40,
		"multidimpodautoscalerhistories": 15} {
		root := readCRD(t, plural).Spec.Versions[0].Schema.OpenAPIV3Schema
		fields := 0
		for _, part := range []string{"spec", "status"} {
			properties, _ := root["properties"].(map[string]any)
			top, _ := properties[part].(map[string]any)
			if part == "spec" && plural == "multidimpodautoscalerhistories" {
				continue // nobody wants anything of it
			}
			visit(node(top), part, func(n node, path string) {
				fields++
				if missing := n.unbounded(); missing != "" {
					t.Errorf("%s: %s has no %s", plural, path, missing)
				}
				if text, _ := n["description"].(string); text == "" && !strings.HasSuffix(path, "]") && !strings.HasSuffix(path, "}") {
					t.Errorf("%s: %s has no description", plural, path)
				}
			})
		}
		if fields < least {
			t.Errorf("%s: only %d fields found", plural, fields)
		}
	}
}

func (n node) unbounded() string {
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return n[key] != nil })
	}
	switch {
	case n["type"] == "array" && !has("maxItems"):
		return "maxItems"
	case has("additionalProperties") && !has("maxProperties"):
		return "maxProperties"
	case (n["type"] == "string" || has("x-kubernetes-int-or-string")) && !has("maxLength", "enum", "format"):
		return "maxLength"
	}
	return ""
}

func visit(n node, path string, see func(node, string)) {
	see(n, path)
	properties, _ := n["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		child, _ := properties[name].(map[string]any)
		visit(child, path+"."+name, see)
	}
	if items, isList := n["items"].(map[string]any); isList {
		visit(items, path+"[]", see)
	}
	if values, isMap := n["additionalProperties"].(map[string]any); isMap {
		visit(values, path+"{}", see)
	}
}

// What is counted is never negative, whoever writes it.
func TestReplicaCountsOfAStatusAreNotNegative(t *testing.T) {
	for plural, want := range map[string]int{"federatedhpas": 13, "cronfederatedhpas": 3, "multidimpodautoscalers": 2} {
		found := 0
		status := readCRD(t, plural).Spec.Versions[0].Schema.OpenAPIV3Schema["properties"].(map[string]any)["status"].(map[string]any)
		walkCounts("status", status, func(path string, field map[string]any) {
			found++
			if field["minimum"] != float64(0) {
				t.Errorf("%s: %s has the minimum %v, want 0", plural, path, field["minimum"])
			}
		})
		if found != want {
			t.Errorf("%s: %d counts found, want %d", plural, found, want)
		}
	}
}

// walkCounts visits the counts of replicas that are for people. What a controller remembers, and the status of a
// member's own autoscaler, are others'.
func walkCounts(path string, field map[string]any, visit func(path string, field map[string]any)) {
	if items, ok := field["items"].(map[string]any); ok {
		walkCounts(path, items, visit)
	}
	properties, _ := field["properties"].(map[string]any)
	for name, child := range properties {
		child := child.(map[string]any)
		switch {
		case name == "stabilization" || name == "assignment" || name == "hpa":
		case child["type"] == "integer" && (strings.HasSuffix(name, "Replicas") || strings.HasPrefix(name, "assigned")):
			visit(path+"."+name, child)
		default:
			walkCounts(path+"."+name, child, visit)
		}
	}
}

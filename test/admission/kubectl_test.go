// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// What people have applies as it is: Karmada's manifests, those of the
// proposals, and the documentation's. To apply it again changes nothing.
func TestPeoplesManifestsApply(t *testing.T) {
	e := hub(t)
	e.asked(t, 1)
	files, err := filepath.Glob("../../docs/examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples (%v)", err)
	}
	for _, file := range append(files, "../api/testdata/karmada.yaml", "../api/testdata/proposals.yaml") {
		for _, manifest := range documents(t, file) {
			name := kindOf(t, manifest)
			t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
				t.Cleanup(func() {
					_, err := e.Feed(context.WithoutCancel(t.Context()), manifest, "delete", "--ignore-not-found", "-f", "-")
					if err != nil {
						t.Error(err)
					}
				})
				var versions []string
				for range 2 {
					said, err := e.Feed(t.Context(), manifest, "apply", "-f", "-", "-o", "jsonpath={.metadata.resourceVersion}")
					if err != nil {
						t.Fatal(err)
					}
					versions = append(versions, said.Stdout)
				}
				if versions[0] != versions[1] {
					t.Errorf("the version was %s, and is %s", versions[0], versions[1])
				}
			})
		}
	}
}

// documents are the manifests of a file.
func documents(t *testing.T, file string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n---\n")
}

func kindOf(t *testing.T, manifest string) string {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u.GetKind() + " " + u.GetName()
}

// kubectl prints what was refused and warned of as a person can use it.
func TestKubectlTellsWhatIsWrong(t *testing.T) {
	e := hub(t)
	e.asked(t, 1)
	const manifest = `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: day, namespace: default}
spec:
  scaleTargetRef: {apiVersion: app/v1, kind: Deployment, name: web}
  rules: [{name: up, schedule: "0 8 * * 7", targetReplicas: 3}, {name: down, schedule: "0 8 31 2 *", targetReplicas: 1}]
`
	said, err := e.Feed(t.Context(), manifest, "apply", "-f", "-")
	if err == nil {
		t.Fatal("it is let through")
	}
	for _, want := range []string{
		`Warning: spec.scaleTargetRef.apiVersion: "app/v1" does not exist, and was read as "apps/v1": write that`,
		`The CronFederatedHPA "day" is invalid:`,
		`* spec.rules[0].schedule: Invalid value: "0 8 * * 7": day of week "7": 0 is Sunday, and 7 is not known: write 0`,
		`* spec.rules[1].schedule: Invalid value: "0 8 31 2 *": `,
	} {
		if !strings.Contains(said.Stderr, want) {
			t.Errorf("kubectl does not say %q:\n%s", want, said.Stderr)
		}
	}
}

// The documentation of Kubernetes writes quantities as numbers.
func TestFractionsApply(t *testing.T) {
	e := hub(t)
	e.asked(t, 1)
	const manifest = `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: fraction, namespace: default}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: fraction}
  maxReplicas: 3
  behavior: {scaleUp: {tolerance: 0.05}}
`
	for _, how := range []string{"--server-side=false", "--server-side=true"} {
		said, err := e.Feed(t.Context(), manifest, "apply", how, "--dry-run=server", "-f", "-", "-o",
			"jsonpath={.spec.behavior.scaleUp.tolerance}")
		if err != nil || said.Stdout != "50m" {
			t.Errorf("%s: tolerance %q: %v", how, said.Stdout, err)
		}
	}
}

// The columns stand ready in status; who asks for a category gets all kinds.
func TestKubectlGet(t *testing.T) {
	e := hub(t)
	namespace := e.namespace(t, "columns")
	for _, manifest := range documents(t, "../api/testdata/status.yaml") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(manifest), &u.Object); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Feed(t.Context(), manifest, "-n", namespace, "create", "-f", "-"); err != nil {
			t.Fatal(err)
		}
		if u.GetKind() == "MultidimPodAutoscalerHistory" {
			continue // its status is no subresource
		}
		status := string(written(t, map[string]any{"status": u.Object["status"]}))
		e.kubectl(t, "-n", namespace, "patch", strings.ToLower(u.GetKind()), u.GetName(), "--subresource=status", "--type=merge", "-p", status)
	}
	fhpa := [][]string{
		{"NAME", "REFERENCE-KIND", "REFERENCE-NAME", "TARGETS", "MINPODS", "MAXPODS", "REPLICAS", "READY", "CLUSTERS", "STATE", "AGE", "MODE",
			"DESIRED", "LAST-SCALE", "REASON"},
		{"central-status", "Deployment", "shop", "<unknown>, queue: 126m/100 (avg)", "", "20", "12", "11", "1/2", "Held"},
	}
	cron := [][]string{
		{"NAME", "REFERENCE-KIND", "REFERENCE-NAME", "NEXT", "LAST", "SUSPENDED", "AGE", "LAST-RUN", "MESSAGE"},
		{"cron-status", "Deployment", "shop", "2027-03-01T08:30:00+08:00 morning", "morning Succeeded", "0/1"},
	}
	mpa := [][]string{
		{"NAME", "TARGET", "MODE", "REPLICAS", "SIZED", "CPU", "MEMORY", "SAVINGS", "STATE", "AGE", "DESIRED", "LAST-SCALE", "REASON"},
		{"multidim-status", "Deployment/shop", "", "12", "1/12", "1 -> 250m", "2Gi -> 300Mi", "27.5 cpu, 1.25/h", "Held"},
	}
	for word, want := range map[string][][]string{
		"fhpa": fhpa, "federatedhpas": fhpa, "cronfhpa": cron, "cronfederatedhpas": cron, "mpa": mpa, "multidimpodautoscalers": mpa,
	} {
		said := e.kubectl(t, "-n", namespace, "get", word, "-o", "wide")
		if diff := cmp.Diff(want, tableOf(said.Stdout, want)); diff != "" {
			t.Errorf("kubectl get %s (-want +got):\n%s\n%s", word, diff, said.Stdout)
		}
	}
	for _, category := range []string{"autoscaling", "karmada-io"} {
		names := strings.Fields(e.kubectl(t, "-n", namespace, "get", category, "-o", "name").Stdout)
		for _, want := range []string{"federatedhpa.autoscaling.karmada.io/central-status",
			"cronfederatedhpa.autoscaling.karmada.io/cron-status", "multidimpodautoscaler.autoscaling.karmada.io/multidim-status"} {
			if !slices.Contains(names, want) {
				t.Errorf("kubectl get %s has %v, not %s", category, names, want)
			}
		}
	}
}

// tableOf cuts kubectl's table at the places of its heads, as long and as wide as want.
func tableOf(text string, want [][]string) (rows [][]string) {
	lines := strings.Split(text, "\n")
	var starts []int
	for i := range lines[0] {
		if lines[0][i] != ' ' && (i == 0 || lines[0][i-1] == ' ') {
			starts = append(starts, i)
		}
	}
	for i := range want {
		var row []string
		for j, start := range starts {
			end := len(lines[i])
			if j+1 < len(starts) {
				end = min(end, starts[j+1])
			}
			row = append(row, strings.TrimSpace(lines[i][min(start, end):end]))
		}
		rows = append(rows, row[:min(len(row), len(want[i]))])
	}
	return rows
}

func TestKubectlExplain(t *testing.T) {
	e := hub(t)
	for field, want := range map[string]string{
		"fhpa": "FederatedHPA keeps the replicas",
		"fhpa.spec.federatedHPAAssignment.federatedHPAAssignmentType": "Prioritized",
		"fhpa.spec.metrics.external.metric.selector":                  "selector",
		"fhpa.status.clusters.state":                                  "Unreachable",
		"cronfhpa":                                                    "CronFederatedHPA sets the replicas",
		"cronfhpa.spec.rules.schedule":                                "schedule",
		"cronfhpa.status.summary":                                     "next",
	} {
		err := fixture.Await(t.Context(), patience, func(ctx context.Context) error {
			said, err := e.Ask(ctx, "explain", field)
			if err == nil && (!strings.Contains(said.Stdout, want) || strings.Contains(said.Stdout, "<no description>")) {
				err = errors.New(said.Stdout)
			}
			return err
		})
		if err != nil {
			t.Errorf("kubectl explain %s, want %q in it: %v", field, want, err)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
)

const docs = "../../../docs"

// manifests are the CronFederatedHPAs that people are shown.
func manifests(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docs, "cron.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		all = append(all, block[1])
	}
	for _, name := range []string{"cron-workload.yaml", "cron-federatedhpa.yaml"} {
		example, err := os.ReadFile(filepath.Join(docs, "examples", name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(example))
	}
	if len(all) != 7 {
		t.Fatalf("found %d manifests, want 7", len(all))
	}
	return all
}

// What is shown is accepted without a warning, and every rule can run.
func TestDocumentedManifests(t *testing.T) {
	timetables := newSchedules("UTC")
	for _, manifest := range manifests(t) {
		object := &v1alpha1.CronFederatedHPA{}
		if err := yaml.UnmarshalStrict([]byte(manifest), object); err != nil {
			t.Fatalf("%v in\n%s", err, manifest)
		}
		warnings := admission.MutateCronFederatedHPA(object)
		faults, more := admission.ValidateCronFederatedHPA(object, nil, admission.Neighbours{})
		if len(faults)+len(warnings)+len(more) > 0 {
			t.Errorf("%v, %v, %v for\n%s", faults, warnings, more, manifest)
		}
		status := cronplan.Decide(cronplan.Situation{Object: object, Timetables: timetables.of(object)}).Status
		if !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.CronReady) || len(status.ExecutionHistories) != len(object.Spec.Rules) {
			t.Errorf("%+v for\n%s", status, manifest)
		}
	}
}

// The rows of the tables that tell of clocks which change.
func TestDocumentedClocks(t *testing.T) {
	tests := map[string]struct {
		from string // UTC
		want []string
	}{
		"30 2 * * *":   {"2026-03-08 05:00", []string{"2026-03-08 03:00", "2026-03-09 02:30"}},
		"*/30 * * * *": {"2026-03-08 06:00", []string{"2026-03-08 01:30", "2026-03-08 03:00", "2026-03-08 03:30"}},
		"30 1 * * *":   {"2026-11-01 04:00", []string{"2026-11-01 01:30", "2026-11-02 01:30"}},
		"0 * * * *":    {"2026-11-01 04:30", []string{"2026-11-01 01:00", "2026-11-01 02:00"}},
	}
	text, err := os.ReadFile(filepath.Join(docs, "cron.md"))
	if err != nil {
		t.Fatal(err)
	}
	timetables := newSchedules("America/New_York")
	for expression, tc := range tests {
		if !strings.Contains(string(text), "| `"+expression+"` |") {
			t.Errorf("%s is not in the table", expression)
		}
		read := timetables.timetable(expression, timetables.byDefault)
		if read.Fault != "" {
			t.Fatal(read.Fault)
		}
		at := moment(t, tc.from)
		for _, want := range tc.want {
			at = read.Schedule.Next(at)
			if got := at.Format("2006-01-02 15:04"); got != want {
				t.Errorf("%s runs at %s, want %s", expression, got, want)
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

const docs = "../../../docs"

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docs, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// manifests are the MultidimPodAutoscalers that people are shown. A part of a spec is shown as a change of the one before.
func manifests(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(page(t, "multidim.md"), -1) {
		if manifest := block[1]; strings.HasPrefix(manifest, "spec:") {
			all = append(all, merged(t, all[len(all)-1], manifest))
		} else {
			all = append(all, manifest)
		}
	}
	for _, name := range []string{"multidim.yaml", "multidim-goals.yaml"} {
		all = append(all, page(t, filepath.Join("examples", name)))
	}
	if len(all) != 7 {
		t.Fatalf("found %d manifests, want 7", len(all))
	}
	return all
}

func merged(t *testing.T, manifest, change string) string {
	t.Helper()
	parts := [2][]byte{}
	for i, text := range []string{manifest, change} {
		var err error
		if parts[i], err = yaml.YAMLToJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := jsonpatch.MergePatch(parts[0], parts[1])
	if err != nil {
		t.Fatal(err)
	}
	return string(whole)
}

// What is shown is accepted without a warning.
func TestDocumentedManifests(t *testing.T) {
	for _, manifest := range manifests(t) {
		m := &v1alpha1.MultidimPodAutoscaler{}
		if err := yaml.UnmarshalStrict([]byte(manifest), m); err != nil {
			t.Fatalf("%v in\n%s", err, manifest)
		}
		warnings := admission.MutateMultidimPodAutoscaler(m)
		faults, more := admission.ValidateMultidimPodAutoscaler(m, nil, admission.Neighbours{})
		if len(faults)+len(warnings)+len(more) > 0 {
			t.Errorf("%v, %v, %v for\n%s", faults, warnings, more, manifest)
		}
	}
}

// What is shown as refused is, for the reasons that the page has, and for no others.
func TestDocumentedFaults(t *testing.T) {
	text := page(t, "multidim.md")
	shown := regexp.MustCompile(`(?m)^    apiVersion: autoscaling\.gke\.io.*\n(?:    .*\n)+`).FindString(text)
	m := &v1alpha1.MultidimPodAutoscaler{}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll("\n"+shown, "\n    ", "\n")), m); err != nil || shown == "" {
		t.Fatalf("%v in\n%s", err, shown)
	}
	admission.MutateMultidimPodAutoscaler(m)
	faults, _ := admission.ValidateMultidimPodAutoscaler(m, nil, admission.Neighbours{})
	for _, fault := range faults {
		if !strings.Contains(text, "`"+fault.Error()+"`") {
			t.Errorf("the page lacks %q", fault)
		}
	}
	if len(faults) != 1 {
		t.Errorf("%v, want 1 fault", faults)
	}
}

// The statuses that are shown are those that come of what the page says of the fleet.
func TestDocumentedStatus(t *testing.T) {
	text := page(t, "multidim.md")
	w := newWorld(t, object())
	for _, c := range w.clusters {
		c.pods, c.prices = nil, registration.Prices{CPUHour: new(0.025), GiBHour: new(0.0035)}
		for i := range 6 {
			c.pods = append(c.pods, pod{fmt.Sprint(c.name, i), 240, 600 * mi, pods.Resources{MilliCPU: 1000, Memory: 2 * gi}, false})
		}
	}
	unbounded := pods.Resources{MilliCPU: pods.None, Memory: pods.None}
	free := capacity.LimitRange{Min: unbounded, Max: unbounded, MaxRatio: capacity.Ratios{CPU: pods.None, Memory: pods.None}}
	limits := capacity.LimitRanges{Known: true, Container: free, Pod: free, DefaultRequests: unbounded, DefaultLimits: unbounded}
	limits.Container.Min.Memory = gi
	w.clusters["west"].limits = limits
	w.pass(1)
	short := w.object().Status.Summary
	row := strings.Join([]string{short.Target, "Off", "12", short.Sized, short.CPU, short.Memory, short.Savings, string(short.State), "1m"},
		"   ")
	if !regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(row), "   ", " {3,}")).MatchString(text) {
		t.Errorf("kubectl shows %q", row)
	}
	w.pass(26 * 60)
	m := w.object()
	c := m.Status.Recommendation.Containers[0]
	for _, part := range []struct {
		name string
		of   v1alpha1.Size
	}{
		{"target", c.Target}, {"lowerBound", c.LowerBound}, {"upperBound", c.UpperBound}, {"uncappedTarget", c.UncappedTarget},
		{"requested", m.Status.Savings.Requested}, {"recommended", m.Status.Savings.Recommended}, {"saved", m.Status.Savings.Saved},
		{"target", m.Status.Clusters[1].Recommendation.Containers[0].Target},
	} {
		shown := regexp.MustCompile(part.name + `: +\{cpu: "?` + part.of.CPU.String() + `"?, memory: "?` + part.of.Memory.String() + `"?\}`)
		if !shown.MatchString(text) {
			t.Errorf("%s is %v and %v", part.name, part.of.CPU, part.of.Memory)
		}
	}
	same(t, "west", "app 296m 1Gi memory:LimitRangeMin", recommendedFor(m.Status.Clusters[1].Recommendation))
	if !strings.Contains(text, `costPerHour: "`+m.Status.Savings.CostPerHour+`"`) {
		t.Errorf("it costs %s", m.Status.Savings.CostPerHour)
	}
}

// The FederatedHPA, the floor and the loop that the page tells of.
func TestDocumentedGoals(t *testing.T) {
	text := page(t, "multidim.md")
	w := newWorld(t, object(withGoal, func(m *v1alpha1.MultidimPodAutoscaler) {
		m.Spec.Goals.Metrics[0].Resource.Target.AverageUtilization = new(int32(60))
	}))
	w.use(420, 200*mi)
	w.pass(2)
	f := w.child()
	printed := regexp.MustCompile(`(?m)^    (\[\{"resource".*)$`).FindStringSubmatch(text)
	var metrics []autoscalingv2.MetricSpec
	if err := json.Unmarshal([]byte(printed[1]), &metrics); err != nil {
		t.Fatal(err)
	}
	same(t, "metrics", f.Spec.Metrics, metrics)
	same(t, "at the minimum", "app 511m 250Mi", recommendedFor(w.object().Status.Recommendation))
	f.Status.DesiredReplicas = *f.Spec.MinReplicas + 1
	if err := w.hub.Status().Update(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	w.pass(1)
	same(t, "above it", "app 720m 250Mi cpu:GoalFloor", recommendedFor(w.object().Status.Recommendation))
	for _, amount := range []string{"600m", "720m", "511m"} {
		if !strings.Contains(text, amount) {
			t.Errorf("the page lacks %s", amount)
		}
	}
}

// Every condition's reason, what caps a size, what a cluster lacks or refuses, every Event and every metric is on the page.
func TestDocumentedNames(t *testing.T) {
	text := page(t, "multidim.md")
	for _, file := range []string{"conditions.go", "record.go", "../../goals/child.go", "../../sizes/caps.go",
		"../../members/sizing/support.go", "../../members/sizing/refused.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`(?m)^\t(?:reason|event|Reason|Sizing|Refused|No|Live|Hidden)\w+ +(?:\w+ +)?= +"(\w+)"`).
			FindAllStringSubmatch(string(source), -1)
		if len(found) < 4 {
			t.Errorf("%s: found %d names", file, len(found))
		}
		for _, name := range found {
			if !strings.Contains(text, "`"+name[1]+"`") {
				t.Errorf("the page lacks %s of %s", name[1], file)
			}
		}
	}
	for _, name := range []v1alpha1.SizeAdmission{
		v1alpha1.AdmissionInstalled, v1alpha1.AdmissionMissing, v1alpha1.AdmissionIneffective, v1alpha1.AdmissionUnknown,
	} {
		if !strings.Contains(text, "`"+string(name)+"`") {
			t.Errorf("the page lacks %s", name)
		}
	}
	source, err := os.ReadFile("metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`(?:gauge|counter)\("(\w+)"|Name: "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		if full := "`fleetscale_mpa_" + name[1] + name[2]; !strings.Contains(text, full) {
			t.Errorf("the page lacks %s", full)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const core = "../../../pkg/replicas"

// fault is a slip of the pen: one text in one file of the decision, and what it might have been.
type fault struct{ file, right, wrong string }

var faults = map[string]fault{
	"tolerance without its end":    {"tolerance.go", "ratio <= 1.0+t.up", "ratio < 1.0+t.up"},
	"tolerances exchanged":         {"tolerance.go", "t.down = b.ScaleDown", "t.up = b.ScaleDown"},
	"failed Pods take part":        {"group.go", "p.Terminating || p.Phase == corev1.PodFailed", "p.Terminating"},
	"the initialization ends late": {"group.go", ".After(c.now)", ".Compare(c.now) >= 0"},
	"a sample of the bound is too old": {"group.go", "s.At.Before(p.Ready.Since.Add(s.Window))",
		"!s.At.After(p.Ready.Since.Add(s.Window))"},
	"readiness is asked of every metric": {"groups.go", "n.resource == corev1.ResourceCPU", "n.resource != corev1.ResourceStorage"},
	"missing Pods are busy in any case": {"balance.go", "w.filled.busy, w.filled.idle = first < 1, first > 1",
		"w.filled.busy, w.filled.idle = true, false"},
	"unready Pods are forgotten":          {"balance.go", "w.filled.unready = b.groups.unready > 0 && first > 1", "w.filled.unready = false"},
	"a turn of the direction is followed": {"balance.go", "first > 1 && second < 1", "false"},
	"more Pods than replicas raise":       {"balance.go", "ratio < 1 && replicas > b.current ||", ""},
	"strangers do not count":              {"average.go", "a.used.addSum(a.groups.strangersUsed)", ""},
	"busy is at most what is requested":   {"utilization.go", "max(100, u.target)", "100"},
	"a ratio of exact percent": {"balance.go", "return float64(value) / float64(b.target)",
		"return float64(value+1) / float64(b.target)"},
	"a value without Ready Pods":       {"ratio.go", "== corev1.PodRunning &&", "!= corev1.PodPending &&"},
	"shares of what was told":          {"share.go", "Running: v.statusReplicas()", "Running: v.Scale.Replicas"},
	"zero is final":                    {"combine.go", "c.replicas == 0 || p.replicas > c.replicas", "p.replicas > c.replicas"},
	"half the metrics take away":       {"combine.go", "len(c.invalid) > 0 && c.replicas < v.Scale.Replicas", "false"},
	"the window ends early":            {"window.go", "return r.At.Before(start)", "return !r.At.After(start)"},
	"the window of behavior ends late": {"behavior.go", "r.At.After(downStart)", "!r.At.Before(downStart)"},
	"the window upwards takes the highest": {"behavior.go", "w.Lowest = atMost(w.Lowest, r.Replicas)",
		"w.Lowest = atLeast(w.Lowest, r.Replicas)"},
	"the first free place":                    {"state.go", "for i := last - 1; i >= 0; i--", "for i := range last"},
	"changes are outdated at the bound":       {"state.go", "list[i].At.Before(now.Add(-longest))", "!list[i].At.After(now.Add(-longest))"},
	"changes back do not count":               {"policy.go", " + since(s.ScaleDowns, begin)", ""},
	"a percentage upwards is cut":             {"policy.go", "return ceil32(float64(start)", "return trunc32(float64(start)"},
	"the policies that change most and least": {"policy.go", "(direction < 0)", "(direction > 0)"},
	"disabled is ignored": {"policy.go", "rules == nil || selected(rules) == autoscalingv2.DisabledPolicySelect",
		"rules == nil"},
	"four at once are three":               {"bounds.go", "riseAtLeast = 4.0", "riseAtLeast = 3.0"},
	"the minimum is lifted by rates":       {"zero.go", "|| desired >= least", "|| true"},
	"zero is never ours":                   {"written.go", "d.plan.zeroIsOurs && d.Replicas == 0", "false"},
	"the times of conditions move":         {"condition.go", "if c.Status != status", "if c.Reason != reason"},
	"a failure forgets what was desired":   {"written.go", "d.report(d.plan.current, d.plan.before,", "d.report(d.plan.current, d.Replicas,"},
	"assigned replicas are not waited for": {"view.go", "m.stands = max(0,", "m.stands = min(0,"},
	"a drained cluster works":              {"view.go", "m.draining = *c.Assigned == 0", "m.draining = false"},
	"equal names are one Pod":              {"groups.go", "return metric.Pods[m.Name]", `return metric.Pods["member-0"]`},
	"overhead is not requested": {"requests.go", "resourcehelper.PodResourcesOptions{}",
		"resourcehelper.PodResourcesOptions{ExcludeOverhead: true}"},
	"init containers do not reach a peak": {"requests.go", "pod := &corev1.Pod{Spec: *spec}",
		"pod := &corev1.Pod{Spec: *spec}; pod.Spec.InitContainers = nil"},
}

// A comparison that cannot fail proves nothing: with each of these faults it must. They are compiled into copies that
// only the compiler sees.
func TestFaultsAreSeen(t *testing.T) {
	for what, f := range faults {
		t.Run(what, func(t *testing.T) {
			overlay := f.plant(t)
			if testing.Short() {
				return // it could be planted
			}
			run := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-run", "^TestDecisionsAreThoseOfKubernetes$", ".",
				"-seed", "1", "-reconciles", "19000")
			out, err := run.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestDecisionsAreThoseOfKubernetes") {
				t.Errorf("not seen: %v\n%s", err, out)
			}
		})
	}
}

// plant writes the faulty copy, and returns what tells the compiler of it.
func (f fault) plant(t *testing.T) string {
	t.Helper()
	original, err := filepath.Abs(filepath.Join(core, f.file))
	must(err)
	source, err := os.ReadFile(original)
	must(err)
	if n := strings.Count(string(source), f.right); n != 1 {
		t.Fatalf("%s has %q %d times, and not once: plant the fault elsewhere", f.file, f.right, n)
	}
	dir := t.TempDir()
	copied, overlay := filepath.Join(dir, f.file), filepath.Join(dir, "overlay.json")
	must(os.WriteFile(copied, []byte(strings.Replace(string(source), f.right, f.wrong, 1)), 0o600))
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: copied}})
	must(err)
	must(os.WriteFile(overlay, replace, 0o600))
	return overlay
}

// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// faults are small changes of pkg/sizes, any of which the comparison with the library must find.
var faults = []struct{ name, file, old, new string }{
	{"a percentile is passed and not reached", "histogram.go", "sum >= part*h.total", "sum > part*h.total"},
	{"ages by the member's clock", "instance.go", "most), s.At)\n", "most), s.Measured)\n"},
	{"no margin", "advice.go", "return float64(base + amount(", "return float64(base + 0*amount("},
	{"another exponent of the confidence", "advice.go", "math.Pow(1+0.001/known, -2)", "math.Pow(1+0.001/known, -1)"},
	{"the least of a Pod for each container", "advice.go", " * (1 / float64(max(1, o.Containers)))", ""},
	{"confidence by the better of time and samples", "advice.go",
		"return min(float64(u.Last.Sub(u.First))", "return max(float64(u.Last.Sub(u.First))"},
	{"the upper bound by the target's percentile", "advice.go", "max(upperPercentile, o.Percentile[r])", "o.Percentile[r]"},
	{"the lower bound by the target's percentile", "advice.go", "min(lowerPercentile, o.Percentile[r])", "o.Percentile[r]"},
	{"the beginning of a bucket", "scheme.go", "min(bucket+1, buckets-1)", "bucket"},
	{"the nearest bucket", "scheme.go", "/math.Log(ratio)), buckets-1)", "/math.Log(ratio)+0.5), buckets-1)"},
	{"no last bucket", "scheme.go", "const buckets = 176", "const buckets = 177"},
	{"histograms of different days merged as they are", "histogram.go", "by := decay(o.day - h.day)", "by := 1.0"},
	{"a day that changes nothing", "histogram.go", "by := decay(h.day - day)", "by := 1.0"},
	{"light buckets are not empty", "histogram.go", "h.above(tiny, by)", "h.above(dust, by)"},
	{"a half life of two days", "histogram.go", "h.day))) / float64(halfLife))", "h.day))) / float64(2*halfLife))"},
	{"weight that is taken out leaves a rest", "histogram.go", "weight -= by; weight < tiny", "weight -= by; weight < 0"},
	{"peaks of two days are one", "instance.go", "i.peak, i.oom = 0, 0", "i.oom = 0"},
	{"the lower peak stays", "instance.go", "u.subtractPeak(highest, i.windowEnd)", ""},
	{"killed: less is added", "instance.go", "oomRatio = 1.2", "oomRatio = 1.15"},
	{"killed: fewer bytes are added", "instance.go", "oomBump  = 100 << 20", "oomBump  = 64 << 20"},
	{"killed again: more than was used", "instance.go", "max(requested, i.peak)", "max(requested, i.peak, i.oom)"},
	{"weights of samples that differ", "use.go", "sampleWeight, at)", "sampleWeight*(1+float64(u.Samples%2)), at)"},
	{"the first sample is the last that was merged", "use.go", "o.First.Before(u.First)", "o.First.After(u.First)"},
	{"stored with the running day", "checkpoint.go", "if now.Before(i.windowEnd) {", "if now.After(i.windowEnd) {"},
	{"stored weights cut and not rounded", "checkpoint.go", "math.Floor(h.weights[i]*by + 0.5)", "math.Floor(h.weights[i]*by)"},
	{"growing Pods do not come first", "urgency.go", "a.Grows != b.Grows && a.Grows", "a.Grows != b.Grows && b.Grows"},
	{"the smaller difference comes first", "urgency.go", "cmp.Compare(b.Difference, a.Difference)", "cmp.Compare(a.Difference, b.Difference)"},
	{"a tenth is not enough", "urgency.go", "c.Difference >= leastDifference", "c.Difference > leastDifference"},
	{"old enough is not old enough", "urgency.go", "!now.Before(c.Pod.Started.Add(lifetime))", "now.After(c.Pod.Started.Add(lifetime))"},
	{"young Pods too", "urgency.go", "!c.Pod.Started.IsZero() && ", ""},
	{"at a bound is outside", "urgency.go", "request < k.Size.Lower[r]", "request <= k.Size.Lower[r]"},
	{"killed, and nothing would help", "urgency.go", "return c.Difference != 0", "return true"},
	{"what is not requested is not outside", "urgency.go", "request < 0 || request < k", "request < k"},
	{"memory in other units", "urgency.go", "if r == Memory {", "if false {"},
	{"loaded as of another day", "checkpoint.go", "h.day = dayOf(c.ReferenceTimestamp.Time)", "h.day = dayOf(c.ReferenceTimestamp.Time) - 1"},
}

// TestFaults plants the faults, one after the other, and has TestAdvice or TestOrder fail. In its short form it plants the first.
func TestFaults(t *testing.T) {
	faults := faults
	if testing.Short() {
		faults = faults[:1]
	}
	dir, err := filepath.Abs("../../pkg/sizes")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			path, planted := filepath.Join(dir, f.file), filepath.Join(t.TempDir(), f.file)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), f.old); n == 0 {
				t.Fatalf("%s holds no %q", f.file, f.old)
			}
			write(t, planted, strings.ReplaceAll(string(text), f.old, f.new))
			overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: planted}})
			if err != nil {
				t.Fatal(err)
			}
			overlaid := filepath.Join(t.TempDir(), "overlay.json")
			write(t, overlaid, string(overlay))
			comparison := "TestAdvice"
			if f.file == "urgency.go" {
				comparison = "TestOrder"
			}
			cmd := exec.CommandContext(t.Context(), "go", "test",
				"-short", "-count=1", "-vet=off", "-overlay", overlaid, "-run", "^"+comparison+"$", ".")
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			switch {
			case err == nil:
				t.Error("not found: the same advice, in the same order")
			case !errors.As(err, &exit) || !strings.Contains(string(out), "--- FAIL: "+comparison):
				t.Errorf("the test did not run: %v\n%s", err, out)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

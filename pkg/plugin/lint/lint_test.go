// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	_ "time/tzdata" // the zones of the manifests, wherever the tests run

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/admission/admissiontest"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

var update = flag.Bool("update", false, "write the golden files of testdata")

func lint(t *testing.T, o Options) *Report {
	t.Helper()
	o.Namespace = "default"
	r, err := Lint(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What is printed of testdata/tree is in testdata, in each format.
func TestPrint(t *testing.T) {
	files := 0
	r := lint(t, Options{Paths: []string{"testdata/tree"}, Recursive: true, Progress: func(n int) { files = n }})
	fleettest.Same(t, "files of the last progress", r.Files, files)
	for _, format := range Formats() {
		var out bytes.Buffer
		if err := r.Print(&out, format, "v9.8.7"); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", "tree."+format)
		if *update {
			if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		fleettest.Same(t, golden, string(want), out.String())
	}
}

// The webhook says the same of each of its own examples.
func TestTheWebhookSaysTheSame(t *testing.T) {
	cases, err := admissiontest.Load(os.DirFS("../../admission/testdata"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, c := range cases {
		if c.Stored != nil || c.Served != nil {
			continue // what only the hub knows
		}
		compared++
		t.Run(c.File+"/"+c.Name, func(t *testing.T) {
			main := parse("main", document(t, c.Manifest))
			objects := main.objects
			for _, m := range c.Beside {
				objects = append(objects, parse("beside", document(t, m)).objects...)
			}
			var faults, warnings []string
			for _, f := range judge(objects, "default") {
				switch {
				case f.File != "main":
				case f.Severity == Warning:
					warnings = append(warnings, f.Message)
				default:
					faults = append(faults, f.Message)
				}
			}
			anyOrder := cmpopts.SortSlices(func(a, b string) bool { return a < b })
			if diff := cmp.Diff(c.Errors, faults, anyOrder, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("errors (-webhook +lint):\n%s", diff)
			}
			if diff := cmp.Diff(c.Warnings, warnings, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("warnings (-webhook +lint):\n%s", diff)
			}
		})
	}
	if compared < 200 {
		t.Errorf("%d manifests were compared, want 200 or more", compared)
	}
}

func document(t *testing.T, m admissiontest.Manifest) []byte {
	t.Helper()
	text, err := yaml.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestLinesOfFields(t *testing.T) {
	p := parse("f", []byte("# a comment\n---\n"+
		"apiVersion: autoscaling.karmada.io/v1alpha1\nkind: FederatedHPA\nmetadata:\n  labels:\n    a.b/c: d\n"+
		"spec:\n  metrics:\n  - type: x\n  - type: y\n    resource:\n      name: cpu\n"))
	if len(p.objects) != 1 {
		t.Fatalf("parsed %+v", p)
	}
	for path, want := range map[string]int{
		"":                              3,
		"spec":                          8,
		"spec.metrics":                  9,
		"spec.metrics[0]":               10,
		"spec.metrics[1].resource.name": 13,
		"spec.metrics[1].resource.target.averageValue": 12,
		"spec.metrics[7].type":                         9,
		"metadata.labels[a.b/c]":                       7,
		"spec.maxReplicas":                             8,
		"nothing":                                      3,
		"spec.metrics[":                                9,
	} {
		if got := lineOf(p.objects[0].node, path); got != want {
			t.Errorf("%q is at %d, want %d", path, got, want)
		}
	}
}

func TestPaths(t *testing.T) {
	const good = "apiVersion: autoscaling.karmada.io/v1alpha1\nkind: FederatedHPA\nmetadata: {name: web}\n" +
		"spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 3,\n" +
		"  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]}\n"
	r := lint(t, Options{Paths: []string{"-"}, In: strings.NewReader(good)})
	if r.Objects != 1 || r.Refused() || len(r.Unusable) > 0 {
		t.Errorf("a good one on standard input: %+v", r)
	}
	broken := iotest.ErrReader(errors.New("gone"))
	if r := lint(t, Options{Paths: []string{"-"}, In: broken}); len(r.Unusable) != 1 || r.Unusable[0].Message != "gone" {
		t.Errorf("standard input that breaks off: %+v", r)
	}
	if r := lint(t, Options{Paths: []string{"testdata/nowhere"}}); len(r.Unusable) != 1 {
		t.Errorf("no such file: %+v", r)
	}
	if r := lint(t, Options{Paths: []string{"testdata/tree"}}); r.Files != 2 {
		t.Errorf("%d files without recursion, want 2", r.Files)
	}
	if r := lint(t, Options{Paths: []string{"-"}, In: bytes.NewReader(make([]byte, largest+1))}); len(r.Unusable) != 1 {
		t.Error("a file of any size is read")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Lint(ctx, Options{Paths: []string{"testdata/tree"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the end of the context", err)
	}
}

// Whatever is in a file, it is told in lines of that file, or ignored.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"tree/web.yaml", "tree/broken.yml", "tree/below/sizes.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p := parse("f", text)
		lines := bytes.Count(text, []byte("\n")) + 1
		for _, finding := range judge(p.objects, "default") {
			if finding.Line < 1 || finding.Line > lines {
				t.Errorf("line %d of %d: %+v", finding.Line, lines, finding)
			}
		}
		r := &Report{Findings: judge(p.objects, "default"), Unusable: p.unusable}
		if _, err := json.Marshal(r.sarif("v1")); err != nil {
			t.Error(err)
		}
	})
}

// A manifest's own words do not reach the terminal as anything but text.
func TestTextIsPrintable(t *testing.T) {
	const said = "a\x1b[2J\u009b\nb"
	r := &Report{Findings: []Finding{{File: said, Kind: "FederatedHPA", Name: said, Severity: Error, Message: said}},
		Unusable: []Unusable{{File: said, Message: said}}}
	var out strings.Builder
	if err := r.Print(&out, "text", "v0"); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != fleet.PrintableLines(got) || strings.Count(got, "\n") != 3 {
		t.Errorf("printed %q", got)
	}
}

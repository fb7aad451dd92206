// SPDX-License-Identifier: Apache-2.0

package crontab

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

var update = flag.Bool("update", false, "write the golden files of testdata")

func objects(t *testing.T) []*v1alpha1.CronFederatedHPA {
	t.Helper()
	text, err := os.ReadFile("testdata/cronfhpas.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []*v1alpha1.CronFederatedHPA
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		object := &v1alpha1.CronFederatedHPA{}
		if err := yaml.UnmarshalStrict([]byte(document), object); err != nil {
			t.Fatal(err)
		}
		all = append(all, object)
	}
	return all
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	location, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return location
}

// What is printed around the two changes of the clock is in testdata.
func TestTables(t *testing.T) {
	for golden, span := range map[string]Span{
		"next":   {Now: time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC), Count: 1},
		"spring": {Now: time.Date(2027, 3, 27, 0, 0, 0, 0, time.UTC), Until: time.Date(2027, 3, 29, 0, 0, 0, 0, time.UTC), Count: 3},
		"autumn": {Now: time.Date(2027, 10, 31, 0, 0, 0, 0, time.UTC), Until: time.Date(2027, 11, 1, 0, 0, 0, 0, time.UTC), Count: 3},
	} {
		span.Local = zone(t, "America/New_York")
		var out bytes.Buffer
		table := Table(Upcoming(objects(t), span), span.Now, golden == "next")
		if err := printers.NewTablePrinter(printers.PrintOptions{}).PrintObj(table, &out); err != nil {
			t.Fatal(err)
		}
		file := "testdata/" + golden + ".txt"
		if *update {
			if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fleettest.Same(t, file, string(want), out.String())
	}
}

// Whatever the zone and the day, the runs are in order, after now, and no more than were asked for.
func TestRunsAreInOrder(t *testing.T) {
	for day := range 400 {
		span := Span{Now: time.Date(2027, 1, 1, 1, 30, 0, 0, time.UTC).AddDate(0, 0, day), Count: 2, Local: time.UTC}
		runs := Upcoming(objects(t), span)
		perRule := map[string]int{}
		var last time.Time
		for _, r := range runs {
			if r.At == nil {
				continue
			}
			if perRule[r.Name+"/"+r.Rule]++; r.At.Before(last) || !r.At.After(span.Now) || perRule[r.Name+"/"+r.Rule] > span.Count {
				t.Fatalf("on %s: %+v", span.Now, runs)
			}
			last = *r.At
		}
	}
}

func TestList(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var stored []runtime.Object
	for _, object := range objects(t) {
		object.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.CronFederatedHPAKind}
		stored = append(stored, object)
	}
	hub := fake.NewSimpleDynamicClient(scheme, stored...)
	for name, tc := range map[string]struct {
		namespace string
		names     []string
		want      []string
		err       string
	}{
		"all":                 {"", nil, []string{"night", "office"}, ""},
		"a namespace":         {"shop", nil, []string{"office"}, ""},
		"a name":              {"shop", []string{"office"}, []string{"office"}, ""},
		"a name that is none": {"shop", []string{"night"}, nil, `getting CronFederatedHPA shop/night: `},
	} {
		found, err := List(t.Context(), hub, tc.namespace, tc.names...)
		if (err != nil) != (tc.err != "") || err != nil && !strings.HasPrefix(err.Error(), tc.err) {
			t.Errorf("%s: error %v, want %q", name, err, tc.err)
		}
		var got []string
		for _, object := range found {
			got = append(got, object.Name)
		}
		slices.Sort(got)
		fleettest.Same(t, name, tc.want, got)
	}
}

// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/plugin/dashboard/dashboardtest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

func recordedOf(records []*recording.Record) *recorded {
	r := &recorded{most: mostValues}
	for _, record := range records {
		r.add(record)
	}
	r.finish()
	return r
}

// The pictures have what was recommended at each time, and what it was made of; where a cluster was silent they say so.
func TestSizesOverTheTime(t *testing.T) {
	records := recordsOf(t, recordingtest.SizedHour(noon))
	s := sizesOverOf(recordedOf(records), noon.Add(time.Hour))
	if len(s.Lines) != 2 || s.Lines[0].Resource != "cpu" || s.Lines[1].Resource != "memory" || s.Others != 0 {
		t.Fatalf("%+v", s.Lines)
	}
	cpu := s.Lines[0]
	for _, record := range records {
		at := len(s.At) - 1
		for at >= 0 && s.At[at] > record.Question.Now.UnixMilli() {
			at--
		}
		said := record.Sizes.Said.Fleet[0].Advice
		want := []float64{float64(said.Target[0]) / 1000, float64(said.Lower[0]) / 1000, float64(said.Upper[0]) / 1000, float64(said.Target[1])}
		got := []float64{*cpu.Target[at], *cpu.Lower[at], *cpu.Upper[at], *s.Lines[1].Target[at]}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("at %v (-want +got):\n%s", record.Question.Now, diff)
		}
	}
	if usage := *cpu.Usage[0]; usage < 0.2 || usage > 0.22 || usage >= *cpu.Target[0] { // by the bucket that has 200 m
		t.Errorf("what is used is %v, and %v is recommended", usage, *cpu.Target[0])
	}
	want := []span{{noon.Add(40 * time.Minute).UnixMilli(), noon.Add(50 * time.Minute).UnixMilli(), sizesHeld}}
	if diff := cmp.Diff(want, s.Unknown); diff != "" {
		t.Errorf("not known (-want +got):\n%s", diff)
	}
	if late := sizesOverOf(recordedOf(records), noon.Add(2*time.Hour)).Unknown; len(late) != 2 || late[1].Why != notRecorded {
		t.Errorf("an hour later %+v is not known", late)
	}
}

// Of many containers some have pictures, and how many others there are is told; a resource that is not sized has none.
func TestSizesOfManyContainers(t *testing.T) {
	w := recordingtest.NewSized(1, 12)
	for i := range 12 {
		c := v1alpha1.ContainerConstraint{Name: fmt.Sprint("app-", i)}
		if i == 2 {
			c.Mode = v1alpha1.ContainerOff
		}
		w.Spec.Constraints.Container = append(w.Spec.Constraints.Container, c)
	}
	m := &v1alpha1.MultidimPodAutoscaler{Spec: w.Spec}
	v1alpha1.DefaultMultidimPodAutoscaler(m)
	w.Spec = m.Spec
	r := recordedOf(w.Run(rand.New(rand.NewPCG(1, 1)), 3))
	s := sizesOverOf(r, recordingtest.Start)
	var names []string
	for _, line := range s.Lines {
		if line.Resource == "cpu" {
			names = append(names, line.Container)
		}
	}
	if got := strings.Join(names, " "); got != "app-0 app-1 app-3 app-4 app-5 app-6 app-7 app-8" || s.Others != 3 {
		t.Errorf("%s, and %d others", got, s.Others)
	}
	if n := len(r.Settable); n != mostSettings || r.Settable[2].Field != "spec.constraints.container[0].marginPercent" {
		t.Errorf("%d fields can be set: %+v", n, r.Settable)
	}
	if slices.ContainsFunc(r.Settable, func(s setting) bool { return strings.Contains(s.Field, "[2]") }) {
		t.Error("a container that is not sized can be set")
	}
}

// The larger sizes stay where points are merged.
func TestMergedPointsOfSizes(t *testing.T) {
	points := make([]point, 100)
	for i := range points {
		points[i] = point{At: noon.Add(time.Duration(i) * time.Minute), State: string(v1alpha1.StateActive),
			Sized: []sized{{Container: "app", Advice: sizes.Advice{Target: sizes.Amounts{100, 1 << 20}}}}}
	}
	points[55].Sized[0].Target[sizes.Memory] = 1 << 30
	points[66].Sized[0].Target[sizes.CPU] = 2000
	thin := thinned(points, 10)
	for _, want := range []int{55, 66} {
		if !slices.ContainsFunc(thin, func(p point) bool { return p.At.Equal(points[want].At) }) {
			t.Errorf("the point of minute %d is gone", want)
		}
	}
}

// The page of a MultidimPodAutoscaler has the record of its sizes from the hub, and not that of a FederatedHPA of its name; what was
// recommended is explained, and decided again.
func TestPageWithRecordedSizes(t *testing.T) {
	hub, config := hubOf(t)
	m := multidim()
	hub.Put(dashboardtest.Multidims, m)
	start := time.Now().Add(-61 * time.Minute).Truncate(time.Second)
	hub.PutRecord(m.Namespace, m.Name, recordsOf(t, recordingtest.Hour(start, "web"))...)
	w := recordsOf(t, recordingtest.SizedHour(start))
	for _, r := range w {
		r.Object.Namespace, r.Object.Name = m.Namespace, m.Name
	}
	hub.PutRecord(m.Namespace, m.Name, w...)
	address := started(t, config, "shop")
	listen(t, address).until(read)
	id := "mpa/" + m.Namespace + "/" + m.Name
	ask := func(what string, into any) {
		t.Helper()
		if answer, body := get(t, address+what+"id="+id); json.Unmarshal([]byte(body), into) != nil {
			t.Fatal(answer.Status, body)
		}
	}
	var d detail
	for d.Recorded == nil {
		d = detail{}
		if ask("autoscaler?", &d); d.RecordTrouble != "" {
			t.Fatal(d.RecordTrouble)
		}
	}
	if d.Recorded.Decisions != 61 || len(d.SizesOver.Lines) != 2 || len(d.SizesOver.At) < 2 || len(d.Series.At) != 1 {
		t.Errorf("%+v %+v %+v", d.Recorded, d.SizesOver, d.Series)
	}
	var why moment
	ask(fmt.Sprintf("moment?at=%d&", start.Add(45*time.Minute).UnixMilli()), &why)
	if !strings.HasPrefix(why.Explanation, sizesHeld+"\napp-0 cpu: ") ||
		!strings.Contains(why.Explanation, " is recommended; less than ") ||
		!strings.Contains(why.Explanation, "\n  90 of 100 samples of what is used are below ") {
		t.Error(why.Explanation)
	}
	var v struct {
		Changed bool
		Sizes   []struct {
			Name               string
			Was, Would, InFact []float64
		}
	}
	ask(`replay?set=spec.constraints.container=[{name:%20"*",%20marginPercent:%20100}]&`, &v)
	if !v.Changed || len(v.Sizes) != 2 || v.Sizes[0].Name != "cores requested" || v.Sizes[0].Would[0] <= v.Sizes[0].Was[0] ||
		v.Sizes[0].InFact[0] != 2 {
		t.Errorf("%+v", v)
	}
}

// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/plugin/replaying"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// recordFile is the record of an hour of shop/cart and shop/till, which ended a minute ago.
func recordFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop.fsr")
	stream := recordingtest.Hour(time.Now().Add(-61*time.Minute), "cart", "till")
	if err := os.WriteFile(file, stream, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func pastOf(t *testing.T, file, id string) *recorded {
	t.Helper()
	a, err := openArchive(file)
	if err != nil {
		t.Fatal(err)
	}
	past := a.past(t.Context(), id)
	if past.trouble != "" {
		t.Fatal(past.trouble)
	}
	return past.recorded
}

// What was recorded is there as it was: replicas, bounds, the metric against its target, the state and what limited it.
func TestRecordedPast(t *testing.T) {
	file := recordFile(t)
	past := pastOf(t, file, "fhpa/shop/cart")
	if past.Decisions != 241 || past.To-past.From != time.Hour.Milliseconds() || past.Torn || len(past.points) < 4 {
		t.Fatalf("%d decisions over %d ms, %d points", past.Decisions, past.To-past.From, len(past.points))
	}
	first, last := past.points[0], past.points[len(past.points)-1]
	got := fmt.Sprintln(*first.Desired, *first.Ready, *first.Min, *first.Max, first.State, first.Clusters, *first.Metrics[0].Target) +
		fmt.Sprintln(*last.Desired, *last.Ready, *last.Min, *last.Max, last.State, last.Limit, *last.Metrics[0].Value)
	fleettest.Same(t, "", "4 4 2 12 Active [{east 4 false 0 0}] 0.5\n12 12 2 12 Limited Bounds 0.6\n", got)
	want := []setting{{"spec.minReplicas", "minReplicas", "2"}, {"spec.maxReplicas", "maxReplicas", "12"},
		{"spec.metrics[0].resource.target.averageUtilization", "target of cpu, in percent", "50"}}
	fleettest.Same(t, "", want, past.Settable)
	for _, id := range []string{"fhpa/pay/cart", "mpa/shop/cart", "cronfhpa/shop/cart", "", "fhpa/shop"} {
		if past := pastOf(t, file, id); past != nil {
			t.Errorf("%s has a past: %+v", id, past)
		}
	}
}

// Where a workload could not be read, nobody knew how many replicas there were.
func TestRecordedUnread(t *testing.T) {
	r := recordingtest.Read(t, recording.NewDecoder(bytes.NewReader(recordingtest.Hour(noon, "cart"))))[0]
	if r.Question.Scale = (replicas.Scale{Err: errors.New("no such Deployment")}); pointOfRecord(r).Desired != nil {
		t.Errorf("desired are %d", *pointOfRecord(r).Desired)
	}
}

// However many points there are, the worst of each time stays, and what comes after does not go back.
func TestThinned(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 4))
		points, at, most := make([]point, 1+r.IntN(400)), noon, int32(0)
		for i := range points {
			points[i] = point{At: at, Desired: new(r.Int32N(100)), State: []string{"Active", "Active", "Active", "Held"}[r.IntN(4)]}
			at = at.Add(time.Duration(1+r.IntN(100)) * time.Second)
			if points[i].State != "Active" {
				most = max(most, *points[i].Desired)
			}
		}
		n := 1 + r.IntN(50)
		thin := thinned(slices.Clone(points), n)
		if len(thin) > max(n, 0) && len(points) > n || len(points) <= n && len(thin) != len(points) {
			t.Fatalf("seed %d: %d points of %d", seed, len(thin), len(points))
		}
		if !slices.IsSortedFunc(thin, func(a, b point) int { return a.At.Compare(b.At) }) {
			t.Fatalf("seed %d: the points are in no order", seed)
		}
		kept := int32(0)
		for i := range thin {
			if thin[i].State != "Active" {
				kept = max(kept, *thin[i].Desired)
			}
		}
		if kept != most {
			t.Fatalf("seed %d: of those that are held %d stays, want %d", seed, kept, most)
		}
	}
}

// What was seen since the start is not shown twice.
func TestJoined(t *testing.T) {
	at := func(minute int, desired int32) point {
		return point{At: noon.Add(time.Duration(minute) * time.Minute), Desired: &desired}
	}
	r := &recorded{most: mostValues, points: []point{at(0, 1), at(1, 2), at(2, 3), at(9, 4)}}
	for name, tc := range map[string]struct {
		r    *recorded
		live []point
		want []point
	}{
		"no record":   {nil, []point{at(1, 5)}, []point{at(1, 5)}},
		"both":        {r, []point{at(2, 5)}, []point{at(0, 1), at(1, 2), at(2, 5)}},
		"nothing yet": {r, nil, []point{at(0, 1), at(1, 2), at(2, 3)}}, // a record of a clock that is ahead ends now
	} {
		got, _ := joined(tc.r, tc.live, noon.Add(5*time.Minute))
		fleettest.Same(t, name, tc.want, got)
	}
}

// Fields that a replay can set have the names that --set takes.
func TestSettable(t *testing.T) {
	average := autoscalingv2.MetricTarget{AverageValue: new(resource.MustParse("250m"))}
	spec := &v1alpha1.FederatedHPASpec{}
	spec.MaxReplicas, spec.Metrics = 9, []autoscalingv2.MetricSpec{
		{Pods: &autoscalingv2.PodsMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: "requests"}, Target: average}},
		{External: &autoscalingv2.ExternalMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: "queue"},
			Target: autoscalingv2.MetricTarget{Value: new(resource.MustParse("100"))}}},
		{Object: &autoscalingv2.ObjectMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: "hits"}, Target: average}},
		{ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: "cpu", Container: "app", Target: average}},
		{Type: "Future"},
	}
	var got []string
	for _, s := range settable(spec) {
		got = append(got, s.Field+"="+s.Value)
	}
	want := []string{"spec.minReplicas=1", "spec.maxReplicas=9", "spec.metrics[0].pods.target.averageValue=250m",
		"spec.metrics[1].external.target.value=100", "spec.metrics[2].object.target.averageValue=250m",
		"spec.metrics[3].containerResource.target.averageValue=250m"}
	fleettest.Same(t, "", want, got)
}

// The page of an autoscaler has the past, why a decision was what it was, and what it would have been.
func TestPageWithARecord(t *testing.T) {
	_, config := hubOf(t)
	file := recordFile(t)
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, Options{Hub: config, Namespace: "shop", Record: file, Out: in}) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	said := make([]byte, 4096)
	n, err := out.Read(said)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	address := strings.Fields(string(said[:n]))[1]
	listen(t, address).until(read)

	var d detail
	if _, body := get(t, address+"autoscaler?id=fhpa/shop/cart"); json.Unmarshal([]byte(body), &d) != nil {
		t.Fatal(body)
	}
	if d.Recorded == nil || d.Recorded.Decisions != 241 || len(d.Series.At) < 5 || d.Series.At[0] != d.Recorded.From || d.State != "Held" ||
		d.Series.State[len(d.Series.At)-1] != "Held" || *d.Series.Desired[0] != 4 {
		t.Fatalf("%+v\n%+v", d.Recorded, d.Series)
	}
	var m moment
	_, body := get(t, fmt.Sprintf("%smoment?id=fhpa/shop/cart&at=%d", address, d.Recorded.To-time.Minute.Milliseconds()))
	if err := json.Unmarshal([]byte(body), &m); err != nil || d.Recorded.To-m.At != 60_000 ||
		!strings.HasPrefix(m.Explanation, "12 replicas, from 12: minReplicas and maxReplicas hold it\n") {
		t.Errorf("%v: %s", err, body)
	}
	var v replaying.View
	_, body = get(t, address+"replay?id=fhpa/shop/cart&set="+url.QueryEscape("spec.maxReplicas=40"))
	if err := json.Unmarshal([]byte(body), &v); err != nil || !v.Changed || slices.Max(v.Would.Replicas) != 15 ||
		slices.Max(v.Was.Replicas) != 12 {
		t.Errorf("%v: %s", err, body)
	}
	const refused = http.StatusUnprocessableEntity
	for path, want := range map[string]struct {
		code int
		text string
	}{
		"moment?id=fhpa/shop/cart&at=5":                                       {http.StatusNotFound, "No decision was recorded by then."},
		"moment?id=fhpa/shop/cart&at=now":                                     {http.StatusNotFound, "There is no record of it."},
		"moment?id=cronfhpa/shop/cart&at=5":                                   {http.StatusNotFound, "There is no record of it."},
		"replay?id=fhpa/pay/api":                                              {refused, "FederatedHPA pay/api: nothing is recorded"},
		"replay?id=fhpa/shop/cart&set=spec.maxReplicas%3D-1":                  {refused, "FederatedHPA shop/cart: --set: "},
		"replay?id=fhpa/shop/cart" + strings.Repeat("&set=a", mostSettings+1): {http.StatusNotFound, "There is no record of it."},
	} {
		if answer, body := get(t, address+path); answer.StatusCode != want.code || !strings.HasPrefix(body, want.text) {
			t.Errorf("%s: %d %s", path, answer.StatusCode, body)
		}
	}
}

// A file has the past, too; without a record nothing is asked of one.
func TestOnceWithARecord(t *testing.T) {
	_, config := hubOf(t)
	file := filepath.Join(t.TempDir(), "page.html")
	o := Options{Hub: config, Record: recordFile(t), Once: file, Out: io.Discard}
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if d := dataOf(t, file).Details["fhpa/shop/cart"]; d.Recorded == nil || d.Recorded.Decisions != 241 || len(d.Series.At) < 5 {
		t.Errorf("%+v", d.Recorded)
	}
	o.Record = filepath.Join(t.TempDir(), "none.fsr")
	if err := Run(t.Context(), o); err == nil || !strings.HasPrefix(err.Error(), "--record: ") {
		t.Error(err)
	}
	if err := os.WriteFile(o.Record, []byte("this is no record"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "this is no record of decisions") {
		t.Error(err)
	}
}

// A record that grows is read again, and pages that were read are not kept forever.
func TestPastsAreKept(t *testing.T) {
	file := recordFile(t)
	a, err := openArchive(file)
	if err != nil {
		t.Fatal(err)
	}
	if past := a.past(t.Context(), "fhpa/shop/cart"); past.trouble != "" || past.recorded.Decisions != 241 {
		t.Fatalf("%s %+v", past.trouble, past.recorded)
	}
	for i := range 2 * mostPasts {
		if other := a.past(t.Context(), fmt.Sprint("fhpa/shop/other-", i)); other.trouble != "" || len(a.pasts) > mostPasts {
			t.Fatalf("%d are kept: %s", len(a.pasts), other.trouble)
		}
	}
	stream, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	later := recordingtest.Hour(time.Now().Add(24*time.Hour), "cart")
	if err := os.WriteFile(file, slices.Concat(stream, later[:len(later)-1]), 0o600); err != nil {
		t.Fatal(err)
	}
	if more := a.past(t.Context(), "fhpa/shop/cart"); more.trouble != "" || more.recorded.Decisions != 481 || !more.recorded.Torn {
		t.Errorf("%s %+v", more.trouble, more.recorded)
	}
}

// Of a decision that was not carried out it is said so, and a workload that could not be read has no decision.
func TestMomentOf(t *testing.T) {
	var busy *recording.Record
	for _, r := range recordsOf(t, recordingtest.Hour(noon, "cart")) {
		if r.Outcome == recording.Scaled {
			busy = r
		}
	}
	for want, change := range map[string]func(*recording.Record){
		"12 replicas, from ":               func(*recording.Record) {},
		"\n  they could not be written\n":  func(r *recording.Record) { r.Outcome = recording.Refused },
		"\n  nothing was written: it only": func(r *recording.Record) { r.Outcome = recording.Observed },
		"\n  10 were written\n":            func(r *recording.Record) { r.After = 10 },
		"nothing was decided: it\nis away": func(r *recording.Record) { r.Question.Scale.Err = fmt.Errorf("it\nis away\x1b[0m") },
	} {
		r := *busy
		change(&r)
		if got := momentOf(&r).Explanation; !strings.Contains(got, want) || strings.Contains(got, "\x1b") {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
}

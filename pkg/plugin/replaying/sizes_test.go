// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

// sizedHour is the second day of shop/web.
func sizedHour() []byte { return recordingtest.SizedHour(recordingtest.Start.Add(24 * time.Hour)) }

const doubled = `spec.constraints.container=[{name: "*", marginPercent: 100}]`

// What is recommended stands beside what would be, with what it does not cover, and what Pods requested in fact.
func TestReplayOfSizes(t *testing.T) {
	record := sizedHour()
	both := slices.Concat(recordingtest.Hour(recordingtest.Start, "web"), record)
	for name, tc := range map[string]struct {
		in      []byte
		options Options
		want    []string
	}{
		"as it was": {record, Options{}, []string{
			"MultidimPodAutoscaler shop/web: 61 decisions from 2027-03-02 09:30 UTC to 2027-03-02 10:30 UTC\n",
			"all are as they were\n", "in fact the Pods requested 2.0 core-hours and 4.0 GiB-hours, and 1 containers were killed",
			"core-hours requested                    0.5\n", "cpu used above the request              10 min\n",
			"memory used above the request           0 s\n",
			"kills that the request does not cover   1\n", "cores requested as it was\n",
			"load not known for 10 min: clusters could not be seen, so nothing became less\n"}},
		"with another margin": {record, Options{Set: []string{doubled}}, []string{"AS IT WAS   AS IT WOULD BE\n",
			"core-hours requested                    0.5         0.9 (+74 %)\n", "cpu used above the request              10 min      0 s\n",
			"kills that the request does not cover   1           0\n", "cores requested as it would be\n", "What is used is what it was"}},
		"beside a FederatedHPA":    {both, Options{Sized: "shop/web"}, []string{"MultidimPodAutoscaler shop/web: 61 decisions"}},
		"a FederatedHPA beside it": {both, Options{Object: "shop/web"}, []string{"FederatedHPA shop/web: 241 decisions"}},
		"a page": {record, Options{Set: []string{doubled}, Format: "html"}, []string{
			`"replay":{"title":"MultidimPodAutoscaler shop/web"`, `"set":["spec.constraints`, "GiB-hours requested", `"inFact":[2,2`,
			"Unseen: clusters could not be seen, so nothing became less"}},
		"a picture": {record, Options{Set: []string{doubled}, Format: "svg"}, []string{
			"cores requested", "GiB requested", ">in fact</text>", "url(#hatch)"}},
	} {
		t.Run(name, func(t *testing.T) {
			says(t, tc.in, tc.options, tc.want)
		})
	}
}

func TestReplayOfSizesForPrograms(t *testing.T) {
	out, err := run(t, sizedHour(), Options{Format: "json", Set: []string{doubled}})
	r := &report{}
	if err != nil || json.Unmarshal([]byte(out), r) != nil {
		t.Fatal(err, out)
	}
	if r.Type != "MultidimPodAutoscaler" || r.InFact == nil || r.InFact.Kills != 1 || r.Was.AboveCPUSeconds != 600 ||
		r.Would.AboveCPUSeconds != 0 || r.Was.Sizes.CoreHours >= r.Would.Sizes.CoreHours || len(r.Points) != 61 ||
		r.Points[0].Would.Sizes == nil {
		t.Errorf("%+v", r)
	}
}

// Several percentiles and margins stand beside each other, and the least that does is advised.
func TestSweepOfSizes(t *testing.T) {
	record := sizedHour()
	margins := SweepOptions{Targets: "0:100:25", Field: replay.MarginPercent, Within: 1}
	often, room := margins, margins
	often.Within, room.Headroom, room.Wished = 17, 30, true
	for name, tc := range map[string]struct {
		options Options
		want    []string
	}{
		"percentiles": {Options{Sweep: SweepOptions{Targets: "50:99:49", Within: 20}}, []string{
			"MultidimPodAutoscaler shop/web, targetPercentile of all containers, over 1.0 h\n", "PERCENT   CORE-HOURS   GIB-HOURS   CPU ABOVE",
			"advice: targetPercentile: {cpu: 50, memory: 50}: the least with which more than is requested is used for no more than 20 % of the time",
			"load not known for 10 min: clusters could not be seen, so nothing became less\n", "\nat least that: some of the use is not known"}},
		"no percentile does": {Options{Sweep: SweepOptions{Targets: "50:99:49", Within: 1}}, []string{
			"advice: targetPercentile: {memory: 50}: the least", "of the time; none does, of cpu"}},
		"margins":            {Options{Sweep: margins}, []string{"advice: marginPercent: 50: the least"}},
		"margins, sometimes": {Options{Sweep: often}, []string{"advice: marginPercent: 25: the least"}},
		"margins, with room": {Options{Sweep: room}, []string{
			"advice: marginPercent: 100: the least with which more than what leaves a headroom of 30 %"}},
		"no margin does": {Options{Sweep: SweepOptions{Targets: "0:20:20", Field: replay.MarginPercent, Within: 1}}, []string{
			"no advice: there is none with which more than is requested is used for no more than 1 % of the time, of cpu\n"}},
		"a headroom alone": {Options{Sweep: SweepOptions{Headroom: 5, Wished: true, Within: 20}}, []string{
			"\n          50 ", "\n          99 ", "advice: targetPercentile: {cpu: 50, memory: 50}"}},
		"beside another change": {Options{Set: []string{doubled}, Sweep: SweepOptions{Targets: "50:50:1", Within: 1}}, []string{
			"advice: targetPercentile: {cpu: 50, memory: 50}"}},
		"a page":    {Options{Format: "html", Sweep: margins}, []string{`"caption":"marginPercent"`, `"sweep":`}},
		"a picture": {Options{Format: "svg", Sweep: margins}, []string{"core-hours requested", "time in which memory is used above the request"}},
		"for programs": {Options{Format: "json", Sweep: margins}, []string{
			`"field": "marginPercent"`, `"value": 75`, `"advice": {`, `"cpu": 50,`, `"memory": 25,`, `"atLeast": true`}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, record, tc.options)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("there is no %q in\n%s", want, out)
				}
			}
		})
	}
}

// What cannot be known is refused.
func TestReplayOfSizesThatIsRefused(t *testing.T) {
	record := sizedHour()
	both := slices.Concat(recordingtest.Hour(recordingtest.Start, "web"), record)
	for name, tc := range map[string]struct {
		in      []byte
		options Options
		want    string
	}{
		"another workload": {record, Options{Set: []string{"spec.scaleTargetRef.name=other"}}, "spec.scaleTargetRef: what would be recommended"},
		"a percentile that is none": {record, Options{Set: []string{
			`spec.constraints.container=[{name: "*", targetPercentile: {cpu: 100}}]`}}, "--set: the spec would be refused: "},
		"percentiles that there are not": {record, Options{Sweep: SweepOptions{Targets: "40:90:10"}}, "--sweep: from 50 on up"},
		"a percentile that there is not": {record, Options{Sweep: SweepOptions{Targets: "50:100:25"}},
			"--sweep: targetPercentile is from 50 to 99, got 100"},
		"another field": {record, Options{Sweep: SweepOptions{Targets: "50:90:20", Field: "mode"}}, "--sweep-field: must be one of "},
		"one of two":    {both, Options{}, "choose one with --fhpa or --mpa NAMESPACE/NAME: shop/web, MultidimPodAutoscaler shop/web"},
		"both":          {both, Options{Object: "shop/web", Sized: "shop/web"}, "--fhpa and --mpa: give one of them"},
		"half a name":   {both, Options{Sized: "web"}, "--mpa: write NAMESPACE/NAME"},
		"another name":  {both, Options{Sized: "shop/other"}, "no decision of MultidimPodAutoscaler shop/other is recorded"},
	} {
		if out, err := run(t, tc.in, tc.options); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// The past of a FederatedHPA has no sizes of a MultidimPodAutoscaler of its name, as those that it drives have.
func TestPastWithoutSizes(t *testing.T) {
	stream := slices.Concat(recordingtest.Hour(recordingtest.Start, "web"), sizedHour())
	a := NewArchive(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(stream)), nil })
	v, err := a.Replay(t.Context(), recording.Object{Namespace: "shop", Name: "web"}, nil, 95)
	if err != nil || !strings.Contains(strings.Join(v.Notes, "\n"), "all are as they were") || len(v.At) != 241 {
		t.Fatalf("%v; %d points, notes %q", err, len(v.At), v.Notes)
	}
}

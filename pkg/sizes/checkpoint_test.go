// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// week is what one container used in seven days, and the container.
func week() (*Use, Instance) {
	var u Use
	var i Instance
	for n := range 7 * 24 {
		i.Add(&u, sample(int64(100+n%24*10), int64(1+n%5)*gi, noon.Add(time.Duration(n)*time.Hour)))
	}
	return &u, i
}

func TestSave(t *testing.T) {
	u, i := week()
	now := u.Last.Add(time.Minute)
	c := u.Save(now, []Instance{i})
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var again Checkpoint
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, again); diff != "" {
		t.Errorf("by way of JSON (-before +after):\n%s", diff)
	}
	const head = `{"lastUpdateTime":"2026-11-29T11:01:00Z","version":"v3",` +
		`"cpuHistogram":{"referenceTimestamp":"2026-11-23T00:00:00Z","bucketWeights":{"10":`
	if !strings.HasPrefix(string(text), head) {
		t.Errorf("stored as %s, want it to begin with %s", text, head)
	}
	if w := c.CPUHistogram.BucketWeights; w[0].Bucket != 8 || w[len(w)-1].Weight == 0 {
		t.Errorf("weights %v", w)
	}
}

// Weights are stored as parts of the largest, rounded; what comes to nothing is left out.
func TestSavedWeights(t *testing.T) {
	day := midnight(20_000)
	h := histogramOf(added{3, 4, day}, added{4, 2, day}, added{5, 0.00062, day}, added{6, 0.00015, day}, added{7, 1, day.Add(halfLife)})
	c := h.save()
	want := HistogramCheckpoint{
		ReferenceTimestamp: metav1.NewTime(day.UTC()), TotalWeight: 8.00077,
		BucketWeights: BucketWeights{{3, 10000}, {4, 5000}, {5, 2}, {7, 5000}},
	}
	fleettest.Same(t, "stored", want, c, cmpopts.EquateApprox(1e-12, 0))
	loaded, err := c.load(day)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := loaded.weights[0], 8.00077*10000/20002; math.Abs(got-want) > 1e-12 || loaded.low != 3 || loaded.total != c.TotalWeight {
		t.Errorf("loaded as %v, want the first to weigh %g", loaded, want)
	}
}

// Times may be a little ahead: of the end of a window, and of the day next to that.
func TestLoadWhatIsAhead(t *testing.T) {
	u, _ := week()
	c := u.Save(u.Last, nil)
	c.LastSampleStart = metav1.NewTime(u.Last.Add(48 * time.Hour))
	c.MemoryHistogram.ReferenceTimestamp = c.LastSampleStart
	if _, err := Load(c, u.Last); err != nil {
		t.Error(err)
	}
}

// The peaks of a day that is not over are not stored, so that they do not count twice after a restart.
func TestSaveLeavesOutTheRunningDay(t *testing.T) {
	u, i := week()
	loaded, err := Load(u.Save(u.Last, []Instance{i}), u.Last)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := loaded.memory.total, u.memory.total-u.memory.factor(i.windowEnd); math.Abs(got-want) > 1e-9*want {
		t.Errorf("weight %g, want %g: all but the running day's", got, want)
	}
	loaded, err = Load(u.Save(i.windowEnd, []Instance{i}), i.windowEnd)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := loaded.memory.total, u.memory.total; got != want {
		t.Errorf("weight %g, want %g: the day is over", got, want)
	}
	var killed Use
	var j Instance
	j.Add(&killed, sample(100, gi, noon))
	j.OOM(&killed, 2*gi, noon.Add(time.Minute))
	if left := killed.Save(noon.Add(time.Hour), []Instance{j}).MemoryHistogram; len(left.BucketWeights) > 0 {
		t.Errorf("stored %v, want nothing: the container was killed today", left.BucketWeights)
	}
	before := u.memory
	before.weights = slices.Clone(before.weights)
	u.Save(u.Last, []Instance{i})
	if !same(u.memory, before) {
		t.Error("Save changes what it saves")
	}
}

func TestLoad(t *testing.T) {
	u, i := week()
	c := u.Save(u.Last, []Instance{i})
	loaded, err := Load(c, u.Last)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, loaded.Save(u.Last, nil), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("saved again (-before +after):\n%s", diff)
	}
	empty, err := Load(new(Use).Save(noon, nil), noon)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Use{}, empty, cmp.AllowUnexported(Use{}, histogram{})); diff != "" {
		t.Errorf("nothing, saved and loaded (-before +after):\n%s", diff)
	}
}

// A program whose half life is another may store weights of any time. They are counted for that.
func TestLoadWeightsOfAnyTime(t *testing.T) {
	at := noon.Add(7 * time.Hour) // the next day begins after five more
	c := HistogramCheckpoint{ReferenceTimestamp: metav1.NewTime(at), BucketWeights: BucketWeights{{30, 1}}, TotalWeight: 1}
	h, err := c.load(at)
	if err != nil {
		t.Fatal(err)
	}
	h.add(40, 1, at)
	if math.Abs(h.weights[0]-h.weights[10]) > 1e-12 {
		t.Errorf("weights %g and %g of one time, want them equal", h.weights[0], h.weights[10])
	}
}

func TestLoadRefuses(t *testing.T) {
	now := noon.Add(7 * 24 * time.Hour)
	for name, c := range map[string]struct {
		change func(*Checkpoint)
		want   string
	}{
		"another version":         {func(c *Checkpoint) { c.Version = "v2" }, `checkpoint of version "v2": want v3`},
		"fewer samples than none": {func(c *Checkpoint) { c.TotalSamplesCount = -1 }, "checkpoint of -1 samples"},
		"samples out of order": {func(c *Checkpoint) { c.LastSampleStart = metav1.NewTime(noon.Add(-time.Second)) },
			"checkpoint whose last sample, of 2026-11-22T11:59:59Z, is older than its first, of 2026-11-22T12:00:00Z"},
		"samples of the future": {func(c *Checkpoint) { c.LastSampleStart = metav1.NewTime(now.Add(49 * time.Hour)) },
			"checkpoint with a sample of 2026-12-01T13:00:00Z, which is in the future"},
		"weights of the future": {func(c *Checkpoint) { c.MemoryHistogram.ReferenceTimestamp = metav1.NewTime(now.Add(49 * time.Hour)) },
			"checkpoint of memory: weights of 2026-12-01T13:00:00Z, which is in the future"},
		"a bucket that there is not": {func(c *Checkpoint) { c.CPUHistogram.BucketWeights[0].Bucket = 176 },
			"checkpoint of CPU: bucket 176: want 0 to 175"},
		"a negative bucket": {func(c *Checkpoint) { c.CPUHistogram.BucketWeights[0].Bucket = -1 },
			"checkpoint of CPU: bucket -1: want 0 to 175"},
		"negative weight": {func(c *Checkpoint) { c.CPUHistogram.TotalWeight = -1 }, "checkpoint of CPU: weight -1: want 0 to 1e+60"},
		"too much weight": {func(c *Checkpoint) { c.CPUHistogram.TotalWeight = math.Inf(1) },
			"checkpoint of CPU: weight +Inf: want 0 to 1e+60"},
		"no number": {func(c *Checkpoint) { c.CPUHistogram.TotalWeight = math.NaN() },
			"checkpoint of CPU: weight NaN: want 0 to 1e+60"},
	} {
		t.Run(name, func(t *testing.T) {
			u, _ := week()
			stored := u.Save(now, nil)
			if _, err := Load(stored, now); err != nil {
				t.Fatalf("before the change: %v", err)
			}
			c.change(&stored)
			if _, err := Load(stored, now); err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

func TestBucketWeightsOfNoObject(t *testing.T) {
	if err := json.Unmarshal([]byte(`{"bucketWeights":[1]}`), new(HistogramCheckpoint)); err == nil {
		t.Error("a list is read as weights")
	}
}

// FuzzLoad: whatever is loaded can be saved, comes back the same, and takes samples.
func FuzzLoad(f *testing.F) {
	u, i := week()
	seed, err := json.Marshal(u.Save(u.Last, []Instance{i}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(seed))
	f.Add(`{"version":"v3","cpuHistogram":{"referenceTimestamp":"2026-11-22T07:00:00Z",` +
		`"bucketWeights":{"0":1,"175":10000},"totalWeight":1e59}}`)
	f.Add(`{"version":"v3","cpuHistogram":{"referenceTimestamp":null,"bucketWeights":{"9":3},"totalWeight":0.0001}}`)
	f.Fuzz(func(t *testing.T, text string) {
		now := noon.Add(7 * 24 * time.Hour)
		var c Checkpoint
		if json.Unmarshal([]byte(text), &c) != nil {
			return
		}
		u, err := Load(c, now)
		if err != nil || c.CPUHistogram.TotalWeight > heaviest/4 || c.MemoryHistogram.TotalWeight > heaviest/4 {
			return // so heavy that it may be refused when it is a little more
		}
		var i Instance
		i.Add(u, sample(500, gi, now))
		again, err := Load(u.Save(now, nil), now)
		if err != nil {
			t.Fatalf("saved, and not loaded: %v", err)
		}
		if again.Samples != u.Samples || !(again.cpu.total >= 0) {
			t.Errorf("%d samples of weight %g, want %d", again.Samples, again.cpu.total, u.Samples)
		}
	})
}

// What others saw weighs as if it had been seen here, whatever they say that it weighs.
func TestNormalize(t *testing.T) {
	begin := time.Date(2026, 11, 14, 3, 0, 0, 0, time.UTC)
	seen := func() *Use {
		var u Use
		var i Instance
		for n := range 8 * 24 * 60 {
			i.Add(&u, Sample{Amounts: Amounts{int64(100 + n%50), gi}, At: begin.Add(time.Duration(n) * time.Minute)})
		}
		return &u
	}
	ours := seen()
	for name, by := range map[string]float64{"as ours": 1, "for Pods of 20 cores": 200, "out of malice": 1e30} {
		other := seen()
		for _, h := range []*histogram{&other.cpu, &other.memory} {
			for n := range h.weights {
				h.weights[n] *= by
			}
			h.total *= by
		}
		other.Normalize()
		if ratio := other.cpu.total / ours.cpu.total; ratio < 0.99 || ratio > 1.01 {
			t.Errorf("%s: a sample of cpu weighs %g times what ours does", name, ratio)
		}
		if ratio := other.memory.total / ours.memory.total; ratio > 24*60*1.5 {
			t.Errorf("%s: a peak of memory weighs %g times what ours does", name, ratio)
		}
		both, o := *seen(), Options{Percentile: [2]int{90, 90}, Margin: 15, Containers: 1}
		both.Merge(other)
		if alone, together := ours.Advise(o), both.Advise(o); alone.Target != together.Target {
			t.Errorf("%s: beside ours, %v is advised, want %v", name, together.Target, alone.Target)
		}
	}
	empty := Use{Samples: 0, First: begin, Last: begin}
	empty.cpu.add(3, 7, begin)
	if empty.Normalize(); empty.cpu.total != 0 {
		t.Errorf("no samples weigh %g", empty.cpu.total)
	}
	crowd := Use{Samples: math.MaxInt, First: begin, Last: begin.Add(time.Hour)}
	crowd.cpu.add(3, 1e50, begin)
	if crowd.Normalize(); crowd.cpu.total > 1e6 {
		t.Errorf("an hour of samples weighs %g", crowd.cpu.total)
	}
}

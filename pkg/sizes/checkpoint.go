// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Checkpoint is a Use as it is stored: in JSON, the status of a VerticalPodAutoscalerCheckpoint of version v3. So a history
// that VPA has collected can be taken over.
type Checkpoint struct {
	LastUpdateTime    metav1.Time         `json:"lastUpdateTime"`
	Version           string              `json:"version,omitempty"`
	CPUHistogram      HistogramCheckpoint `json:"cpuHistogram"`
	MemoryHistogram   HistogramCheckpoint `json:"memoryHistogram"`
	FirstSampleStart  metav1.Time         `json:"firstSampleStart"`
	LastSampleStart   metav1.Time         `json:"lastSampleStart"`
	TotalSamplesCount int                 `json:"totalSamplesCount,omitempty"`
}

// HistogramCheckpoint is a histogram as it is stored. The weights of buckets are rounded: the largest is stored as 10000.
type HistogramCheckpoint struct {
	ReferenceTimestamp metav1.Time   `json:"referenceTimestamp"`
	BucketWeights      BucketWeights `json:"bucketWeights,omitempty"`
	TotalWeight        float64       `json:"totalWeight,omitempty"`
}

// BucketWeights are in the order of buckets. In JSON they are an object.
type BucketWeights []BucketWeight

// BucketWeight is the weight of one bucket, as a part of those of all.
type BucketWeight struct {
	Bucket int
	Weight uint32
}

// MarshalJSON writes {"bucket": weight, ...}.
func (b BucketWeights) MarshalJSON() ([]byte, error) {
	weights := make(map[int]uint32, len(b))
	for _, w := range b {
		weights[w.Bucket] = w.Weight
	}
	return json.Marshal(weights)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (b *BucketWeights) UnmarshalJSON(text []byte) error {
	var weights map[int]uint32
	if err := json.Unmarshal(text, &weights); err != nil {
		return err
	}
	*b = make(BucketWeights, 0, len(weights))
	for bucket, weight := range weights {
		*b = append(*b, BucketWeight{bucket, weight})
	}
	slices.SortFunc(*b, func(a, b BucketWeight) int { return cmp.Compare(a.Bucket, b.Bucket) })
	return nil
}

const (
	checkpointVersion = "v3"
	checkpointWeight  = 10000 // the largest
	heaviest          = 1e60  // of all together, far above what 100 half lives and any number of samples come to
	// ahead is how far the times of a checkpoint may be ahead of our clock: peaks of memory count for the end of their
	// window, and a histogram begins with the day next to its first sample.
	ahead = window + halfLife
)

// Save returns what is to be stored. The peaks of windows that have not ended are left out: after a restart the
// containers, which are given, count again from the beginning.
func (u *Use) Save(now time.Time, containers []Instance) Checkpoint {
	memory := u.memory
	memory.weights = slices.Clone(memory.weights)
	for _, i := range containers {
		if now.Before(i.windowEnd) {
			memory.subtract(memoryScheme.bucket(float64(max(i.peak, i.oom))), 1, i.windowEnd)
		}
	}
	return Checkpoint{
		LastUpdateTime:    metav1.NewTime(now),
		Version:           checkpointVersion,
		CPUHistogram:      u.cpu.save(),
		MemoryHistogram:   memory.save(),
		FirstSampleStart:  metav1.NewTime(u.First),
		LastSampleStart:   metav1.NewTime(u.Last),
		TotalSamplesCount: u.Samples,
	}
}

// Load returns the Use that was stored. The error says what is wrong with the checkpoint.
func Load(c Checkpoint, now time.Time) (*Use, error) {
	latest := now.Add(ahead)
	switch {
	case c.Version != checkpointVersion:
		return nil, fmt.Errorf("checkpoint of version %q: want %s", c.Version, checkpointVersion)
	case c.TotalSamplesCount < 0:
		return nil, fmt.Errorf("checkpoint of %d samples", c.TotalSamplesCount)
	case c.LastSampleStart.Before(&c.FirstSampleStart):
		return nil, fmt.Errorf("checkpoint whose last sample, of %s, is older than its first, of %s",
			text(c.LastSampleStart), text(c.FirstSampleStart))
	case c.LastSampleStart.After(latest):
		return nil, fmt.Errorf("checkpoint with a sample of %s, which is in the future", text(c.LastSampleStart))
	}
	cpu, err := c.CPUHistogram.load(latest)
	if err != nil {
		return nil, fmt.Errorf("checkpoint of CPU: %w", err)
	}
	memory, err := c.MemoryHistogram.load(latest)
	if err != nil {
		return nil, fmt.Errorf("checkpoint of memory: %w", err)
	}
	return &Use{cpu: cpu, memory: memory, First: c.FirstSampleStart.Time, Last: c.LastSampleStart.Time, Samples: c.TotalSamplesCount}, nil
}

// Normalize has what others saw weigh no more than if it had been seen here: VPA gives samples of CPU the weight of what is
// requested, and who wrote a checkpoint could have given them any.
func (u *Use) Normalize() {
	minutes := int(u.Last.Sub(u.First)/time.Minute) + 1
	samples := min(u.Samples, mostContainers*minutes)
	u.cpu.lighten(sampleWeight*float64(samples), u.First, u.Last)
	u.memory.lighten(float64(samples), u.First, u.Last) // each may have been the highest of its container
}

// mostContainers is how many containers of one name may have been seen together in a cluster.
const mostContainers = 10_000

// lighten bounds the weight by that of samples which weigh so much together, and were taken evenly between two times.
func (h *histogram) lighten(weight float64, from, to time.Time) {
	begin, end := from.Sub(midnight(h.day)).Hours()/halfLife.Hours(), to.Sub(midnight(h.day)).Hours()/halfLife.Hours()
	mean := math.Exp2(end)
	if long := end - begin; long > 1.0/24 {
		mean *= -math.Expm1(-long*math.Ln2) / (long * math.Ln2)
	}
	if most := weight * mean; h.total > most {
		for i := range h.weights {
			h.weights[i] *= most / h.total
		}
		h.total = most
		h.shrink()
	}
}

func text(t metav1.Time) string { return t.UTC().Format(time.RFC3339) }

func (h *histogram) save() HistogramCheckpoint {
	from, to := h.hull(1)
	if from == to {
		return HistogramCheckpoint{}
	}
	stored := HistogramCheckpoint{ReferenceTimestamp: metav1.NewTime(midnight(h.day).UTC()), TotalWeight: h.total}
	by := checkpointWeight / slices.Max(h.weights[from:to])
	for i := from; i < to; i++ {
		if weight := uint32(math.Floor(h.weights[i]*by + 0.5)); weight > 0 {
			stored.BucketWeights = append(stored.BucketWeights, BucketWeight{int(h.low) + i, weight})
		}
	}
	return stored
}

func (c *HistogramCheckpoint) load(latest time.Time) (h histogram, err error) {
	var sum int64
	for _, w := range c.BucketWeights {
		if w.Bucket < 0 || w.Bucket >= buckets {
			return h, fmt.Errorf("bucket %d: want 0 to %d", w.Bucket, buckets-1)
		}
		sum += int64(w.Weight)
	}
	switch {
	case !(c.TotalWeight >= 0 && c.TotalWeight <= heaviest): // nor is NaN
		return h, fmt.Errorf("weight %g: want 0 to %g", c.TotalWeight, heaviest)
	case c.ReferenceTimestamp.After(latest):
		return h, fmt.Errorf("weights of %s, which is in the future", text(c.ReferenceTimestamp))
	case sum == 0:
		return h, nil
	}
	h.day = dayOf(c.ReferenceTimestamp.Time)
	total := c.TotalWeight * math.Exp2(float64(c.ReferenceTimestamp.Sub(midnight(h.day)))/float64(halfLife))
	for _, w := range c.BucketWeights {
		h.cover(w.Bucket, w.Bucket+1)
		h.weights[w.Bucket-int(h.low)] += float64(w.Weight) * (total / float64(sum))
	}
	h.total = total
	return h, nil
}

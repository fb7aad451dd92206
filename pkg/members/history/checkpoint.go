// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// checkpoints are what is to be saved, in order of clusters and containers. Of containers without a sample of CPU there is no
// advice, and so they are left out.
func (m *memory) checkpoints(now time.Time) []v1alpha1.ContainerHistory {
	var all []v1alpha1.ContainerHistory
	for _, s := range m.shares {
		for _, c := range s.containers {
			if c.use.Samples > 0 {
				all = append(all, historyOf(s.cluster, c.name, c.use.Save(now, s.unfinished(c))))
			}
		}
	}
	return all
}

// unfinished are the instances whose peaks of the running day are not saved. That of a kill is: nothing shows it again, once the container
// has more.
func (s *share) unfinished(c *container) []sizes.Instance {
	var all []sizes.Instance
	for n := range s.instances {
		if i := &s.instances[n]; i.of == c && !i.Killed() {
			all = append(all, i.Instance)
		}
	}
	return all
}

func historyOf(cluster, container string, c sizes.Checkpoint) v1alpha1.ContainerHistory {
	return v1alpha1.ContainerHistory{
		Cluster: cluster, Container: container, Version: c.Version,
		CPUHistogram: histogramOf(c.CPUHistogram), MemoryHistogram: histogramOf(c.MemoryHistogram),
		FirstSampleStart: set(c.FirstSampleStart), LastSampleStart: set(c.LastSampleStart), TotalSamplesCount: int64(c.TotalSamplesCount),
	}
}

func histogramOf(h sizes.HistogramCheckpoint) v1alpha1.HistogramCheckpoint {
	if len(h.BucketWeights) == 0 {
		return v1alpha1.HistogramCheckpoint{}
	}
	weights := make(map[string]int32, len(h.BucketWeights))
	for _, w := range h.BucketWeights {
		weights[strconv.Itoa(w.Bucket)] = int32(w.Weight)
	}
	return v1alpha1.HistogramCheckpoint{
		ReferenceTimestamp: set(h.ReferenceTimestamp), BucketWeights: weights, TotalWeight: strconv.FormatFloat(h.TotalWeight, 'g', -1, 64),
	}
}

// useOf returns what was saved of a container. The error does not name it.
func useOf(h *v1alpha1.ContainerHistory, now time.Time) (*sizes.Use, error) {
	c := sizes.Checkpoint{
		Version: h.Version, FirstSampleStart: timeOf(h.FirstSampleStart), LastSampleStart: timeOf(h.LastSampleStart),
		TotalSamplesCount: int(h.TotalSamplesCount),
	}
	var err error
	if c.CPUHistogram, err = checkpointOf(&h.CPUHistogram); err != nil {
		return nil, fmt.Errorf("histogram of CPU: %w", err)
	}
	if c.MemoryHistogram, err = checkpointOf(&h.MemoryHistogram); err != nil {
		return nil, fmt.Errorf("histogram of memory: %w", err)
	}
	return sizes.Load(c, now)
}

func checkpointOf(h *v1alpha1.HistogramCheckpoint) (c sizes.HistogramCheckpoint, err error) {
	c.ReferenceTimestamp = timeOf(h.ReferenceTimestamp)
	if h.TotalWeight != "" {
		if c.TotalWeight, err = strconv.ParseFloat(h.TotalWeight, 64); err != nil {
			return c, fmt.Errorf("totalWeight %q is not a number", h.TotalWeight)
		}
	}
	text, err := json.Marshal(h.BucketWeights)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c.BucketWeights); err != nil { // which puts them in order
		return c, fmt.Errorf("bucketWeights: %w", err)
	}
	return c, nil
}

func set(t metav1.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func timeOf(t *metav1.Time) metav1.Time {
	if t == nil {
		return metav1.Time{}
	}
	return *t
}

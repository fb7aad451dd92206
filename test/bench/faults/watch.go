// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/fleetscale/fleetscale/pkg/chart"
	"github.com/fleetscale/fleetscale/test/bench/measure"
)

// figure is something that should not grow.
type figure struct {
	name, unit string
	// most is by how much it may.
	most float64
	of   func(sample) float64
}

func sampledFigures() []figure {
	return []figure{
		{"goroutines", "goroutines", 1.1, func(s sample) float64 { return s.goroutines }},
		{"heap", "MiB", 1.1, func(s sample) float64 { return s.heap / mib }},
		{"resident memory", "MiB", 1.1, func(s sample) float64 { return s.resident / mib }},
		{"open files", "files", 1.1, func(s sample) float64 { return s.files }},
		{"connections", "sockets", 1.1, func(s sample) float64 { return s.sockets }},
	}
}

// sample is what a process has at a time; NaN is what was not read.
type sample struct {
	at                                         time.Duration
	pid                                        measure.Process
	goroutines, heap, resident, files, sockets float64
}

// watched is a process that is sampled.
type watched struct {
	name string
	pid  func() (measure.Process, error)
	// metrics is the page of its metrics; heap collects garbage.
	metrics func(context.Context) (goroutines, heap float64, err error)
	collect func(context.Context) error
	samples []sample
}

// watched are our processes.
func (s *scene) watched() (all []*watched) {
	for i, server := range s.replicas.Servers {
		all = append(all, &watched{
			name: fmt.Sprintf("adapter %d", i+1), pid: func() (measure.Process, error) { return s.replicas.PID(i) },
			metrics: func(ctx context.Context) (float64, float64, error) {
				return goRuntime(ctx, func(ctx context.Context, name string) (float64, error) { return server.Metric(ctx, name) })
			},
			collect: func(ctx context.Context) error {
				_, err := server.Heap(ctx)
				return err
			},
		})
	}
	for i, r := range s.scalers.replicas {
		all = append(all, &watched{
			name: fmt.Sprintf("controller-manager %d", i+1), pid: func() (measure.Process, error) {
				_, pid, err := r.State()
				return measure.Process(pid), err
			},
			metrics: func(ctx context.Context) (float64, float64, error) {
				return goRuntime(ctx, func(ctx context.Context, name string) (float64, error) { return total(ctx, r.Metrics(), name) })
			},
			collect: func(ctx context.Context) error { return get(ctx, s.scalers.profiles[i]+"/debug/pprof/heap?gc=1") },
		})
	}
	return all
}

func goRuntime(ctx context.Context, metric func(context.Context, string) (float64, error)) (goroutines, heap float64, err error) {
	if goroutines, err = metric(ctx, "go_goroutines"); err != nil {
		return 0, 0, err
	}
	heap, err = metric(ctx, "go_memstats_heap_alloc_bytes")
	return goroutines, heap, err
}

func get(ctx context.Context, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// sample takes a sample. Of a process that is down just now there is none.
func (w *watched) sample(ctx context.Context, at time.Duration, collect bool) (err error) {
	s := sample{at: at, heap: math.NaN()}
	if s.pid, err = w.pid(); err != nil {
		return err
	}
	files, sockets, err := s.pid.Descriptors()
	if err != nil {
		return nil
	}
	s.files, s.sockets = float64(files), float64(sockets)
	memory, err := s.pid.Memory()
	if err != nil {
		return nil
	}
	s.resident = float64(memory.Resident)
	const timeout = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if collect {
		if err := w.collect(ctx); err != nil {
			return nil
		}
	}
	goroutines, heap, err := w.metrics(ctx)
	if err != nil {
		return nil
	}
	if s.goroutines = goroutines; collect {
		s.heap = heap
	}
	w.samples = append(w.samples, s)
	return nil
}

// growth is the median of the last quarter by that of the second one; 0 of a
// process that was started again after the second quarter began.
func (w *watched) growth(f figure, whole time.Duration) (early, late measure.Samples, growth float64) {
	var lived []sample
	for _, s := range w.samples {
		value := f.of(s)
		if s.at < whole/4 || math.IsNaN(value) {
			continue
		}
		lived = append(lived, s)
		if s.at < whole/2 {
			early = append(early, value)
		} else if s.at >= whole*3/4 {
			late = append(late, value)
		}
	}
	if len(early) == 0 || len(late) == 0 || !sameProcess(lived) {
		return early, late, 0
	}
	return early, late, late.Median() / early.Median()
}

func (w *watched) line(f figure) chart.Series {
	line := chart.Series{Name: w.name}
	for _, s := range w.samples {
		if value := f.of(s); !math.IsNaN(value) {
			line.Points = append(line.Points, chart.Point{X: s.at.Minutes(), Y: value, Low: value, High: value})
		}
	}
	return line
}

func (w *watched) values(f figure) []float64 {
	var all []float64
	for _, p := range w.line(f).Points {
		all = append(all, p.Y)
	}
	return all
}

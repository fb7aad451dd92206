// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/test/bench/faults/truth"
	"github.com/fleetscale/fleetscale/test/bench/measure"
)

// lie is what a liar does to a list of PodMetrics, and what it should be judged as.
type lie struct {
	name string
	tell func(list map[string]any, header http.Header)
	want truth.Verdict
}

func lies() []lie {
	return []lie{
		{"the Pods of one member are dropped", dropMember, truth.Silent},
		{"the headers are dropped", func(_ map[string]any, header http.Header) {
			header.Del(fleet.CoverageHeader)
			header.Del("Warning")
		}, truth.Silent},
		{"a value is another", func(list map[string]any, _ http.Header) {
			container := items(list)[0].(map[string]any)["containers"].([]any)[0].(map[string]any)
			container["usage"].(map[string]any)["memory"] = "123456Ki"
		}, truth.WrongValue},
		{"a Pod is there twice", func(list map[string]any, _ http.Header) { list["items"] = append(items(list), items(list)[0]) },
			truth.WrongPod},
	}
}

func items(list map[string]any) []any { return list["items"].([]any) }

func dropMember(list map[string]any, _ http.Header) {
	clusterOf := func(item any) string {
		return item.(map[string]any)["metadata"].(map[string]any)["labels"].(map[string]any)[fleet.ClusterLabel].(string)
	}
	dropped := clusterOf(items(list)[0])
	var kept []any
	for _, item := range items(list) {
		if clusterOf(item) != dropped {
			kept = append(kept, item)
		}
	}
	list["items"] = kept
}

// liar stands before an adapter, and tells a lie every so many answers.
type liar struct {
	honest http.RoundTripper
	every  int

	mu      sync.Mutex
	answers int
	told    []int // by lie
}

// RoundTrip implements http.RoundTripper.
func (l *liar) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.honest.RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers++
	turn := l.answers/l.every - 1
	if l.answers%l.every != 0 || turn >= rounds*len(l.told) {
		return resp, nil
	}
	n := turn % len(l.told)
	l.told[n]++
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	list := map[string]any{}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("lying: %w", err)
	}
	lies()[n].tell(list, resp.Header)
	if body, err = json.Marshal(list); err != nil {
		return nil, fmt.Errorf("lying: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// expected returns how often each verdict has to come of what was told.
func (l *liar) expected() map[truth.Verdict]int {
	expected := map[truth.Verdict]int{}
	for i, lie := range lies() {
		expected[lie.want] += l.told[i]
	}
	return expected
}

// plant has a liar lie among so many answers, and writes replicas that nothing
// calls for. It returns an error unless each is counted for what it is.
func (s *scene) plant(ctx context.Context) (answers int, err error) {
	server := s.replicas.Servers[survivor]
	if _, err := server.AwaitPods(ctx, loadNamespace(0), podsOfEach*s.plan.Members); err != nil {
		return 0, err
	}
	l := &liar{honest: server.Client, every: s.plan.Lie, told: make([]int, len(lies()))}
	liars := []client{}
	for i := range 2 {
		liars = append(liars, client{
			name: fmt.Sprintf("planted-%d", i+1), kind: lists, url: server.URL, transport: l,
			question: func(n int) question { return s.list((n+1)*len(accepts) - 1) }, // in JSON
		})
	}
	j := newJournal(io.Discard)
	begin := time.Now()
	asking, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	go func() {
		for j.between(begin, time.Now()).bad() < rounds*len(l.told) && measure.Pass(asking, 10*time.Millisecond) == nil {
		}
		stop()
	}()
	askAll(asking, liars, 0, j)
	seen := j.between(begin, time.Now())
	if err := l.caught(seen.counts()); err != nil {
		return len(seen), err
	}
	fmt.Fprintf(s.log, "Lies told, and caught, among %d answers: %v\n", len(seen), l.expected())
	return len(seen), s.scalers.plant(ctx)
}

// rounds is how often each lie is told.
const rounds = 2

// caught compares what was told with what was judged.
func (l *liar) caught(counts map[truth.Verdict]int) error {
	for verdict, want := range l.expected() {
		if got := counts[verdict]; got != want || want == 0 {
			return fmt.Errorf("planting lies: %d answers were judged as %s, and %d were made so; all: %v", got, verdict, want, counts)
		}
	}
	return nil
}

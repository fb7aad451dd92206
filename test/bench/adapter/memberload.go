// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

const (
	loadedMembers = 10
	// pace is that of a controller of HorizontalPodAutoscalers.
	pace = 15 * time.Second
)

// askers are autoscalers that ask for the cpu of Pods.
type askers struct {
	n int
	// apart means that each asks for a namespace of its own.
	apart bool
}

func (a askers) namespace(i int) string {
	if a.apart {
		return fmt.Sprintf("apart-%d-%d", a.n, i)
	}
	return fmt.Sprintf("together-%d", a.n)
}

func (a askers) String() string {
	if a.apart {
		return "one each"
	}
	return "the same"
}

func memberLoad(ctx context.Context, s *stage.Stage, p plan, log io.Writer) (section report.Section, err error) {
	fleet, err := s.Enlist(ctx, sim.Options{Members: loadedMembers})
	if err != nil {
		return section, err
	}
	defer func() { err = errors.Join(err, s.Dismiss(ctx, fleet)) }()
	section = report.Section{
		Name: "members", Title: "Load on members",
		Text: []string{
			fmt.Sprintf("Autoscalers ask the adapter for the Pods of a namespace by a selector, each every %v. Requests are those that each of %d members gets for metrics.k8s.io in a minute, once all was asked for the first time. "+
				"Without the adapter, each autoscaler would ask each member: %d requests in a minute.", pace, loadedMembers, int(time.Minute/pace)),
		},
		Tables:  []report.Table{{Header: []string{"autoscalers", "namespaces", "requests per member and minute", "of those without the adapter", "CPU of the adapter, cores", "answers without 200"}}},
		Plots:   []report.Plot{{Title: "Requests to a member", X: "autoscalers", Y: "per minute", Series: []report.Series{{Name: "in one namespace"}, {Name: "in one each"}, {Name: "asking themselves"}}}},
		Figures: map[string][]float64{},
	}
	for i, apart := range []bool{false, true} {
		for _, n := range p.Autoscalers {
			if apart && n == 1 {
				continue // it is the same as before
			}
			a := askers{n, apart}
			fmt.Fprintf(log, "%d autoscalers, namespaces: %s ...\n", n, a)
			seen, err := a.load(ctx, s, fleet, p)
			if err != nil {
				return section, err
			}
			themselves := float64(n) * float64(time.Minute/pace)
			section.Tables[0].Rows = append(section.Tables[0].Rows, []string{
				fmt.Sprint(n), a.String(), measure.Short(seen.requests), measure.Short(seen.requests / themselves), measure.Short(seen.cores), fmt.Sprint(seen.refused),
			})
			series := section.Plots[0].Series
			series[i].Points = append(series[i].Points, point(float64(n), measure.Samples{seen.requests}))
			if !apart {
				series[2].Points = append(series[2].Points, point(float64(n), measure.Samples{themselves}))
			}
			section.Figures[fmt.Sprintf("requests_per_minute/autoscalers=%d/apart=%t", n, apart)] = []float64{seen.requests}
		}
	}
	return section, nil
}

// seen is what a load did.
type seen struct {
	requests float64 // per member and minute
	cores    float64
	refused  int64
}

func (a askers) load(ctx context.Context, s *stage.Stage, fleet *sim.Fleet, p plan) (of seen, err error) {
	for i := range a.n {
		if i == 0 || a.apart {
			if err := spread(fleet.Members(), a.namespace(i), 2*loadedMembers); err != nil {
				return of, err
			}
		}
	}
	server, err := s.Adapter(ctx)
	if err != nil {
		return of, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if _, err := server.AwaitPods(ctx, a.namespace(0), 2*loadedMembers); err != nil {
		return of, err
	}
	asking, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	var refused atomic.Int64
	for i := range a.n {
		all.Go(func() { a.ask(asking, server, i, &refused) })
	}
	defer func() { stop(); all.Wait() }()
	if err := pass(ctx, pace+pace/3); err != nil { // each has asked once
		return of, err
	}
	before, cpu, err := look(server, fleet)
	if err != nil {
		return of, err
	}
	begin := time.Now()
	refused.Store(0)
	if err := pass(ctx, p.AskFor); err != nil {
		return of, err
	}
	after, later, err := look(server, fleet)
	took := time.Since(begin)
	of.requests = float64(after.Since(before).Of("metrics.k8s.io")) / loadedMembers / took.Minutes()
	of.cores = float64(later-cpu) / float64(took)
	of.refused = refused.Load()
	return of, err
}

func look(server *stage.Server, fleet *sim.Fleet) (sim.Tally, time.Duration, error) {
	cpu, err := server.PID.CPU()
	return fleet.Requests(), cpu, err
}

// ask is one autoscaler. It begins some time within its pace, as they do.
func (a askers) ask(ctx context.Context, server *stage.Server, i int, refused *atomic.Int64) {
	for wait := rand.N(pace); pass(ctx, wait) == nil; wait = pace {
		a.askOnce(ctx, server, i, refused)
	}
}

func (a askers) askOnce(ctx context.Context, server *stage.Server, i int, refused *atomic.Int64) {
	url := server.Pods(a.namespace(i)) + "?labelSelector=app%3Dweb"
	q := measure.Question{URL: func(int) string { return url }, Accept: stage.Protobuf}
	result := measure.Ask(ctx, server.Client, q, measure.Load{Clients: 1})
	if len(result.Latencies) == 0 && ctx.Err() == nil {
		refused.Add(1)
	}
}

// pass returns after d, or with an error as soon as ctx ends.
func pass(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

// footprint is what a server occupies, in bytes.
type footprint struct {
	heap, resident, peak float64
}

func footprintOf(ctx context.Context, s *stage.Server) (footprint, error) {
	heap, err := s.Heap(ctx)
	if err != nil {
		return footprint{}, err
	}
	m, err := s.PID.Memory()
	return footprint{heap, float64(m.Resident), float64(m.Peak)}, err
}

// perNamespace is how many Pods of a namespace the fleet has: a list of them is a big one.
const perNamespace = 20_000

func memory(ctx context.Context, s *stage.Stage, p plan, log io.Writer) (section report.Section, err error) {
	empty, err := alone(ctx, s)
	if err != nil {
		return section, err
	}
	fmt.Fprintf(log, "Memory for Pods of %d members ...\n", p.KnownMembers)
	fleet, err := s.Enlist(ctx, sim.Options{Members: p.KnownMembers})
	if err != nil {
		return section, err
	}
	defer func() { err = errors.Join(err, s.Dismiss(ctx, fleet)) }()
	server, err := s.Adapter(ctx)
	if err != nil {
		return section, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	g := &growth{fleet: fleet, server: server, plan: p, log: log}
	if err := g.grow(ctx); err != nil {
		return section, err
	}
	peer, err := memoryOfPeer(ctx, s, p, log)
	if err != nil {
		return section, err
	}
	return g.section(empty, peer), nil
}

// alone is what an adapter occupies that has no members.
func alone(ctx context.Context, s *stage.Stage) (footprint, error) {
	server, err := s.Adapter(ctx)
	if err != nil {
		return footprint{}, err
	}
	f, err := footprintOf(ctx, server)
	return f, errors.Join(err, server.Stop())
}

// growth gives a fleet more and more Pods.
type growth struct {
	fleet  *sim.Fleet
	server *stage.Server
	plan   plan
	log    io.Writer

	namespaces, pods int
	joined           footprint   // with members of which one Pod each is known
	known            []footprint // one for each of the plan
	busy             footprint   // while many ask for big lists
	refused          map[int]int
}

func (g *growth) grow(ctx context.Context) (err error) {
	members := g.fleet.Members()
	if err := spread(members, "first", len(members)); err != nil {
		return err
	}
	if err := g.all(ctx, "first", len(members)); err != nil { // all have joined
		return err
	}
	if g.joined, err = footprintOf(ctx, g.server); err != nil {
		return err
	}
	for _, known := range g.plan.Known {
		if err := g.upTo(ctx, known); err != nil {
			return err
		}
		if err := pass(ctx, g.plan.Settle); err != nil { // all is asked for again meanwhile
			return err
		}
		f, err := footprintOf(ctx, g.server)
		if err != nil {
			return err
		}
		g.known = append(g.known, f)
		fmt.Fprintf(g.log, "... %d Pods: heap %.0f MiB, resident %.0f MiB\n", known, f.heap/mib, f.resident/mib)
	}
	return g.ask(ctx)
}

// upTo adds namespaces until so many Pods are known.
func (g *growth) upTo(ctx context.Context, known int) error {
	for g.pods < known {
		n := min(perNamespace, known-g.pods)
		g.namespaces++
		namespace := fmt.Sprintf("known-%d", g.namespaces)
		if err := spread(g.fleet.Members(), namespace, n); err != nil {
			return err
		}
		if err := g.all(ctx, namespace, n); err != nil {
			return err
		}
		g.pods += n
	}
	return nil
}

func (g *growth) all(ctx context.Context, namespace string, pods int) error {
	_, err := g.server.AwaitPods(ctx, namespace, pods)
	return err
}

// ask has many ask for big lists at once.
func (g *growth) ask(ctx context.Context) error {
	if err := g.server.PID.ResetPeak(); err != nil {
		return err
	}
	q := measure.Question{URL: func(n int) string { return g.server.Pods(fmt.Sprintf("known-%d", 1+n%g.namespaces)) }, Accept: stage.JSON}
	result := measure.Ask(ctx, g.server.Client, q, measure.Load{Clients: manyClients, For: 5 * g.plan.For})
	g.refused = result.Refused
	m, err := g.server.PID.Memory()
	g.busy = footprint{resident: float64(m.Resident), peak: float64(m.Peak)}
	return err
}

const manyClients = 32

// peerMemory is that of a metrics-server.
type peerMemory struct {
	pods         int
	before, with footprint
}

func memoryOfPeer(ctx context.Context, s *stage.Stage, p plan, log io.Writer) (peer peerMemory, err error) {
	fmt.Fprintln(log, "... and that of a metrics-server")
	peer.pods = min(perNamespace, p.Known[len(p.Known)-1])
	single, err := sim.New(ctx, sim.Options{Members: 1})
	if err != nil {
		return peer, err
	}
	defer func() { err = errors.Join(err, single.Close()) }()
	server, err := s.MetricsServer(ctx, single.Members()[0])
	if err != nil {
		return peer, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if peer.before, err = footprintOf(ctx, server); err != nil {
		return peer, err
	}
	if err := spread(single.Members(), "known", peer.pods); err != nil {
		return peer, err
	}
	if _, err := server.AwaitPods(ctx, "known", peer.pods); err != nil {
		return peer, err
	}
	peer.with, err = footprintOf(ctx, server)
	return peer, err
}

func (g *growth) section(empty footprint, peer peerMemory) report.Section {
	members := float64(g.plan.KnownMembers)
	s := report.Section{
		Name: "memory", Title: "Memory of the adapter",
		Text: []string{
			fmt.Sprintf("%d members have the Pods, %d of each namespace; all are asked for. Heap is what is in use after a garbage collection; bytes for each Pod are those above an adapter with these members and a Pod of each.", g.plan.KnownMembers, perNamespace),
			fmt.Sprintf("A member costs %s KiB of heap (an adapter without members has %.1f MiB).", measure.Short((g.joined.heap-empty.heap)/members/kib), empty.heap/mib),
			fmt.Sprintf("While %d clients ask for lists of %d Pods in JSON, without pause for %s: resident %.0f MiB at most; refused %s. What is in flight is bounded by `--max-answer-bytes`.",
				manyClients, min(perNamespace, g.plan.Known[len(g.plan.Known)-1]), (5 * g.plan.For).Round(time.Millisecond), g.busy.peak/mib, refusals(g.refused)),
		},
		Figures: map[string][]float64{
			"heap_bytes/members=0": {empty.heap},
			fmt.Sprintf("heap_bytes/members=%d", g.plan.KnownMembers):       {g.joined.heap},
			fmt.Sprintf("peak_bytes/clients=%d", manyClients):               {g.busy.peak},
			fmt.Sprintf("metrics-server/heap_bytes/pods=%d", peer.pods):     {peer.with.heap},
			fmt.Sprintf("metrics-server/heap_bytes/pods=%d", 0):             {peer.before.heap},
			fmt.Sprintf("metrics-server/resident_bytes/pods=%d", peer.pods): {peer.with.resident},
		},
	}
	perPod := (peer.with.heap - peer.before.heap) / float64(peer.pods)
	t := report.Table{Header: []string{"server", "Pods", "heap, MiB", "bytes of heap for each Pod", "for each further Pod", "of metrics-server's", "resident, MiB"}}
	t.Rows = append(t.Rows, []string{metricsServer, fmt.Sprint(peer.pods), measure.Short(peer.with.heap / mib), measure.Short(perPod), "–", "1", measure.Short(peer.with.resident / mib)})
	plot := report.Plot{Title: "Memory for Pods known", X: "Pods", Y: "MiB", Series: []report.Series{{Name: "heap"}, {Name: "resident"}}}
	for i, f := range g.known {
		pods := float64(g.plan.Known[i])
		each := (f.heap - g.joined.heap) / pods
		further := measure.Samples{}
		if i > 0 {
			further = append(further, (f.heap-g.known[i-1].heap)/(pods-float64(g.plan.Known[i-1])))
		}
		t.Rows = append(t.Rows, []string{ours, fmt.Sprint(g.plan.Known[i]), measure.Short(f.heap / mib), measure.Short(each), further.String(), measure.Short(each / perPod), measure.Short(f.resident / mib)})
		plot.Series[0].Points = append(plot.Series[0].Points, point(pods, measure.Samples{f.heap / mib}))
		plot.Series[1].Points = append(plot.Series[1].Points, point(pods, measure.Samples{f.resident / mib}))
		s.Figures[fmt.Sprintf("heap_bytes/pods=%d", g.plan.Known[i])] = []float64{f.heap}
		s.Figures[fmt.Sprintf("resident_bytes/pods=%d", g.plan.Known[i])] = []float64{f.resident}
	}
	s.Tables, s.Plots = []report.Table{t}, []report.Plot{plot}
	return s
}

func refusals(codes map[int]int) string {
	if len(codes) == 0 {
		return "none"
	}
	if n, all := codes[http.StatusTooManyRequests], len(codes) == 1; n > 0 && all {
		return fmt.Sprintf("%d (429, come back later)", n)
	}
	return fmt.Sprint(codes)
}

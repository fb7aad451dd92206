// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

const (
	// scaleClients ask for all namespaces after a start.
	scaleClients = 32
	// scaleTries are how often each of them waits for a namespace for as long as a server may take: with few cores it takes longer.
	scaleTries = 4
	// tenth of the members fail in the end.
	tenth = 10
)

// vastness is what was seen of an adapter with a large fleet.
type vastness struct {
	empty, joined, known footprint
	// whole is seconds from the start to the first whole answer, and warm those until all namespaces had been answered whole.
	whole, warm         float64
	goroutines, sockets float64
	// cores are those used while nothing is new to it, and scrapes the requests for metrics to a member in a period.
	cores, scrapes float64
	// p99 is of lists of a namespace, in milliseconds: with all members, and while a tenth of them fail.
	p99, p99Failing float64
}

func scale(ctx context.Context, s *stage.Stage, p plan, log io.Writer) (section report.Section, err error) {
	var seen vastness
	if seen.empty, err = alone(ctx, s); err != nil {
		return section, err
	}
	fmt.Fprintf(log, "Scale: %d members with %d Pods ...\n", p.Scale.members, p.Scale.all())
	fleet, err := s.Enlist(ctx, sim.Options{Members: p.Scale.members})
	if err != nil {
		return section, err
	}
	defer func() { err = errors.Join(err, s.Dismiss(ctx, fleet)) }()
	of, err := newBulkAnswers(p.Scale)
	if err != nil {
		return section, err
	}
	if err := spread(fleet.Members(), firstNamespace, p.Scale.members); err != nil {
		return section, err
	}
	if seen.joined, err = joined(ctx, s, p); err != nil {
		return section, err
	}
	for i, m := range fleet.Members() {
		m.Delegate("metrics.k8s.io", of.of(i))
	}
	if err := vast(ctx, s, p, fleet, &seen, log); err != nil {
		return section, err
	}
	return scaleSection(p, seen), nil
}

// joined is what an adapter occupies that knows a Pod of each of so many members.
func joined(ctx context.Context, s *stage.Stage, p plan) (f footprint, err error) {
	server, err := s.Adapter(ctx)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if _, err := server.AwaitPods(ctx, firstNamespace, p.Scale.members); err != nil {
		return f, err
	}
	return footprintOver(ctx, server, p.Settle)
}

// vast has an adapter learn of all Pods.
func vast(ctx context.Context, s *stage.Stage, p plan, fleet *sim.Fleet, seen *vastness, log io.Writer) (err error) {
	server, start, err := s.PrepareAdapter(ctx, []string{fmt.Sprintf("GOMEMLIMIT=%dMiB", residentOfAll*3/4)}, // as deploy/ does
		fmt.Sprintf("--scrape-period=%v", p.Scale.period), fmt.Sprintf("--max-age=%v", 3*p.Scale.period),
		fmt.Sprintf("--idle-after=%v", time.Hour), "--max-kept-bytes=3Gi")
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if _, err := server.AwaitPods(ctx, p.Scale.namespace(0), p.Scale.perNamespace()); err != nil {
		return err
	}
	seen.whole = time.Since(begin).Seconds()
	fmt.Fprintf(log, "... first whole answer after %.1f s\n", seen.whole)
	asking, askingCtx := errgroup.WithContext(ctx)
	asking.SetLimit(scaleClients)
	for i := range p.Scale.namespaces {
		asking.Go(func() error {
			var err error
			for range scaleTries {
				if _, err = server.AwaitPods(askingCtx, p.Scale.namespace(i), p.Scale.perNamespace()); err == nil {
					return nil
				}
			}
			return err
		})
	}
	if err := asking.Wait(); err != nil {
		return err
	}
	seen.warm = time.Since(begin).Seconds()
	fmt.Fprintf(log, "... all namespaces after %.0f s\n", seen.warm)
	if err := seen.rest(ctx, server, p); err != nil {
		return err
	}
	fmt.Fprintf(log, "... heap %.0f MiB, resident %.0f MiB\n", seen.known.heap/mib, seen.known.resident/mib)
	return seen.fail(ctx, server, p, fleet)
}

// rest is for when nothing is new to the adapter.
func (v *vastness) rest(ctx context.Context, server *stage.Server, p plan) (err error) {
	if err := v.work(ctx, server, p); err != nil {
		return err
	}
	if v.known, err = footprintOver(ctx, server, p.Scale.period); err != nil {
		return err
	}
	goroutines, err := server.Metric(ctx, "go_goroutines")
	if err != nil {
		return err
	}
	_, sockets, err := server.PID.Descriptors()
	v.goroutines, v.sockets = goroutines/float64(p.Scale.members), float64(sockets)/float64(p.Scale.members)
	return err
}

// work watches the adapter for a period in which nobody asks. Later, garbage is collected for the sake of measuring, which takes CPU too.
func (v *vastness) work(ctx context.Context, server *stage.Server, p plan) error {
	const scrapes = "fleetscale_usage_scrapes_total"
	asked, err := server.Metric(ctx, scrapes)
	if err != nil {
		return err
	}
	if v.cores, err = server.PID.Idle(ctx, p.Scale.period); err != nil {
		return err
	}
	askedNow, err := server.Metric(ctx, scrapes)
	v.scrapes = (askedNow - asked) / float64(p.Scale.members)
	return err
}

// fail asks while all members answer, and while a tenth of them fail.
func (v *vastness) fail(ctx context.Context, server *stage.Server, p plan, fleet *sim.Fleet) error {
	q := measure.Question{URL: func(n int) string { return server.Pods(p.Scale.namespace(n % p.Scale.namespaces)) }, Accept: stage.Protobuf,
		Judge: func(_, code int, body []byte) error { // also a part, which says that it is one
			if code != http.StatusOK {
				return fmt.Errorf("%d: %.300s", code, body)
			}
			return nil
		}}
	l := measure.Load{Clients: 4, For: 5 * p.For}
	v.p99 = measure.Ask(ctx, server.Client, q, l).Latencies.Quantile(0.99)
	for i, m := range fleet.Members() {
		if i%tenth == 0 {
			m.Behave(sim.Conduct{Failing: 1})
		}
	}
	if err := measure.Pass(ctx, p.Settle); err != nil {
		return err
	}
	v.p99Failing = measure.Ask(ctx, server.Client, q, l).Latencies.Quantile(0.99)
	return nil
}

// What is to be reached with a large fleet.
const (
	heapOfAll     = 2.2 * 1024
	residentOfAll = 4 * 1024
	kibOfMember   = 60
	wholeOfLarge  = 10
	warmOfLarge   = 120
	slower        = 1.2
)

func scaleSection(p plan, v vastness) report.Section {
	one := func(x float64) measure.Samples { return measure.Samples{x} }
	perMember := one((v.joined.heap - v.empty.heap) / float64(p.Scale.members))
	perPod := one((v.known.heap - v.joined.heap) / float64(p.Scale.all()))
	slowdown := one(v.p99Failing / v.p99)
	forMember := atMost("heap for each member", kibOfMember, "KiB", perMember.Per(kib))
	if !forMember.Met {
		forMember.Why = "TLS and HTTP/2 of its connection, by Go's library, take some 30 KiB of it"
	}
	rows := [][]string{
		{"heap without members, MiB", parts(one(v.empty.heap), mib)},
		{"heap for each member that has one Pod, KiB", parts(perMember, kib)},
		{"heap with all Pods, MiB", parts(one(v.known.heap), mib)},
		{"heap for each Pod, B", perPod.String()},
		{"resident with all Pods, MiB", parts(one(v.known.resident), mib)},
		{"first whole answer, s after the start", one(v.whole).String()},
		{"whole answers of all namespaces, s after the start", one(v.warm).String()},
		{"cores while nobody asks", one(v.cores).String()},
		{"requests for metrics to a member in a period", one(v.scrapes).String()},
		{"goroutines for each member", one(v.goroutines).String()},
		{"sockets for each member", one(v.sockets).String()},
		{"p99 of a namespace's list, ms", one(v.p99).String()},
		{"the same while a tenth of the members fail, ms", one(v.p99Failing).String()},
	}
	return report.Section{
		Name: "scale", Title: "A large fleet",
		Text: []string{fmt.Sprintf("%d members have %d Pods each in each of %d namespaces, %d Pods in all. All members answer with one list, in "+
			"which only their number differs. Scrapes are %v apart (`--scrape-period`), since all Pods are read in each. %d clients ask for all "+
			"namespaces after the start. Heap is the least, and resident the most, of %d samples over a period.",
			p.Scale.members, p.Scale.pods, p.Scale.namespaces, p.Scale.all(), p.Scale.period, scaleClients, samplesPerPeriod)},
		Tables: []report.Table{{Header: []string{"what", "measured"}, Rows: rows}},
		Reaches: []report.Reach{
			atMost("heap with all Pods", heapOfAll, "MiB", one(v.known.heap).Per(mib)),
			atMost("resident with all Pods", residentOfAll, "MiB", one(v.known.resident).Per(mib)),
			forMember,
			atMost("first whole answer", wholeOfLarge, "s", one(v.whole)),
			atMost("all namespaces", warmOfLarge, "s", one(v.warm)),
			atMost("p99 while a tenth of the members fail, of p99", slower, "", slowdown),
		},
		Figures: map[string][]float64{
			"heap_bytes": one(v.known.heap), "resident_bytes": one(v.known.resident), "heap_bytes_per_member": perMember,
			"whole_seconds": one(v.whole), "warm_seconds": one(v.warm), "goroutines_per_member": one(v.goroutines),
			"sockets_per_member": one(v.sockets), "cores": one(v.cores), "scrapes_per_member_and_period": one(v.scrapes),
			"p99_ms": one(v.p99), "p99_ms/failing": one(v.p99Failing),
		},
	}
}

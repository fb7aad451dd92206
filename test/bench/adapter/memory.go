// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

// footprint is what a server occupies, in bytes.
type footprint struct {
	heap, resident float64
}

func footprintOf(ctx context.Context, s *stage.Server) (footprint, error) {
	heap, err := s.Heap(ctx)
	if err != nil {
		return footprint{}, err
	}
	m, err := s.PID.Memory()
	return footprint{heap, float64(m.Resident)}, err
}

const (
	// perNamespace is how many Pods of a namespace the fleet has: a list of them is a big one.
	perNamespace = 20_000
	// manyClients ask for big lists at once.
	manyClients = 32
)

// growth is one life of an adapter that learns of more and more Pods.
type growth struct {
	empty  footprint   // of another, without members
	joined footprint   // with members of which one Pod each is known
	known  []footprint // one for each of the plan, or those of few Pods only
	busy   *busy       // once it knows the most
	peer   peerMemory
}

// busy is what was seen while many asked for big lists.
type busy struct {
	peak    float64
	refused refusals
}

func memory(ctx context.Context, s *stage.Stage, p plan, log io.Writer) (section report.Section, err error) {
	rounds := make([]growth, p.KnownRounds[0])
	for i := range rounds {
		if rounds[i].empty, err = alone(ctx, s); err != nil {
			return section, err
		}
	}
	fleet, err := s.Enlist(ctx, sim.Options{Members: p.KnownMembers})
	if err != nil {
		return section, err
	}
	defer func() { err = errors.Join(err, s.Dismiss(ctx, fleet)) }()
	c := &census{Stage: s, plan: p, log: log, fleet: fleet}
	if err := c.populate(); err != nil {
		return section, err
	}
	for i := range rounds {
		fmt.Fprintf(log, "Memory for Pods of %d members, round %d ...\n", p.KnownMembers, i+1)
		if err := c.round(ctx, &rounds[i], p.reached(i)); err != nil {
			return section, err
		}
	}
	return memorySection(p, rounds), nil
}

// reached are the numbers of Pods that a round gets to.
func (p plan) reached(round int) []int {
	n := 0
	for n < len(p.Known) && round < p.KnownRounds[n] {
		n++
	}
	return p.Known[:n]
}

// alone returns what an adapter occupies that has no members.
func alone(ctx context.Context, s *stage.Stage) (footprint, error) {
	server, err := s.Adapter(ctx)
	if err != nil {
		return footprint{}, err
	}
	f, err := footprintOf(ctx, server)
	return f, errors.Join(err, server.Stop())
}

// census is a fleet of many Pods, in namespaces that are asked for one after the other.
type census struct {
	*stage.Stage
	plan

	log        io.Writer
	fleet      *sim.Fleet
	namespaces []int // Pods of each
}

const firstNamespace = "first"

func knownNamespace(i int) string { return fmt.Sprintf("known-%d", i) }

func (c *census) populate() error {
	members := c.fleet.Members()
	if err := spread(members, firstNamespace, len(members)); err != nil {
		return err
	}
	pods := 0
	for _, known := range c.Known {
		for pods < known {
			n := min(perNamespace, known-pods)
			if err := spread(members, knownNamespace(len(c.namespaces)), n); err != nil {
				return err
			}
			c.namespaces = append(c.namespaces, n)
			pods += n
		}
	}
	return nil
}

func (c *census) round(ctx context.Context, g *growth, known []int) (err error) {
	return withPeer(ctx, c.Stage, c.most(), &g.peer, func() (err error) {
		server, err := c.Adapter(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Stop()) }()
		if err := c.grow(ctx, server, g, known); err != nil || len(known) < len(c.Known) {
			return err
		}
		g.busy, err = c.ask(ctx, server)
		return err
	})
}

// most is the number of Pods in the biggest namespace.
func (c *census) most() int { return min(perNamespace, c.Known[len(c.Known)-1]) }

func (c *census) grow(ctx context.Context, server *stage.Server, g *growth, known []int) error {
	_, err := server.AwaitPods(ctx, firstNamespace, len(c.fleet.Members())) // all have joined
	if err == nil {
		g.joined, err = footprintOf(ctx, server)
	}
	if err != nil {
		return err
	}
	asked, pods := 0, 0
	for _, known := range known {
		for ; pods < known; asked++ {
			if _, err := server.AwaitPods(ctx, knownNamespace(asked), c.namespaces[asked]); err != nil {
				return err
			}
			pods += c.namespaces[asked]
		}
		if err := measure.Pass(ctx, c.Settle/2); err != nil {
			return err
		}
		f, err := footprintOver(ctx, server, c.Settle)
		if err != nil {
			return err
		}
		g.known = append(g.known, f)
		fmt.Fprintf(c.log, "... %d Pods: heap %.0f MiB, resident %.0f MiB\n", known, f.heap/mib, f.resident/mib)
	}
	return nil
}

// samplesPerPeriod is how often a server is sampled in a period of its own.
const samplesPerPeriod = 8

// footprintOver is what a server occupies over a period.
func footprintOver(ctx context.Context, server *stage.Server, period time.Duration) (footprint, error) {
	var all []footprint
	for range samplesPerPeriod {
		if err := measure.Pass(ctx, period/samplesPerPeriod); err != nil {
			return footprint{}, err
		}
		f, err := footprintOf(ctx, server)
		if err != nil {
			return footprint{}, err
		}
		all = append(all, f)
	}
	return overAPeriod(all), nil
}

// overAPeriod is the least heap, for during other samples lists were under way, and the most that was resident.
func overAPeriod(samples []footprint) footprint {
	f := samples[0]
	for _, sample := range samples[1:] {
		f.heap, f.resident = min(f.heap, sample.heap), max(f.resident, sample.resident)
	}
	return f
}

// ask has many ask for big lists at once.
func (c *census) ask(ctx context.Context, server *stage.Server) (*busy, error) {
	if err := server.PID.ResetPeak(); err != nil {
		return nil, err
	}
	q := measure.Question{URL: func(n int) string { return server.Pods(knownNamespace(n % len(c.namespaces))) }, Accept: stage.JSON}
	result := measure.Ask(ctx, server.Client, q, measure.Load{Clients: manyClients, For: 5 * c.For})
	m, err := server.PID.Memory()
	return &busy{float64(m.Peak), result.Refused}, err
}

// peerMemory is that of a metrics-server.
type peerMemory struct {
	pods         int
	before, with footprint
}

// withPeer measures a metrics-server, which needs half a minute to know so many
// Pods, while something else is done.
func withPeer(ctx context.Context, s *stage.Stage, pods int, peer *peerMemory, meanwhile func() error) (err error) {
	single, err := sim.New(ctx, sim.Options{Members: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, single.Close()) }()
	server, err := s.MetricsServer(ctx, single.Members()[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	peer.pods = pods
	if peer.before, err = footprintOf(ctx, server); err != nil {
		return err
	}
	if err := spread(single.Members(), firstNamespace, pods); err != nil {
		return err
	}
	if err := meanwhile(); err != nil {
		return err
	}
	if _, err := server.AwaitPods(ctx, firstNamespace, pods); err != nil {
		return err
	}
	peer.with, err = footprintOf(ctx, server)
	return err
}

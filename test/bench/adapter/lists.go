// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fleetscale/fleetscale/test/bench/encoder"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

// cell is one way to ask one server for one list.
type cell struct {
	server  string // ours, or a peer
	members int    // 0 for a peer
	pods    int
	format  string
	gzip    bool
	clients int
}

func (c cell) String() string {
	return fmt.Sprintf("%s/members=%d/pods=%d/%s/gzip=%t/clients=%d", c.server, c.members, c.pods, c.format, c.gzip, c.clients)
}

const (
	ours          = "adapter"
	metricsServer = "metrics-server"
	encoderAlone  = "encoder"
	// noList is the adapter when it is asked what it serves, and not for a list.
	noList = "adapter without a list"
)

// listing is all that was measured of a cell, a sample for each round.
type listing struct {
	p50, p90, p99, cpu, bytes, allocated, perSecond measure.Samples
}

func (l *listing) figures() map[string]measure.Samples {
	return map[string]measure.Samples{
		"p50_ms": l.p50, "p90_ms": l.p90, "p99_ms": l.p99, "cpu_ms": l.cpu, "bytes": l.bytes, "allocated_bytes": l.allocated,
		"per_second": l.perSecond,
	}
}

// lister does the experiment.
type lister struct {
	*stage.Stage
	plan

	log     io.Writer
	peer    *asked
	encoder *encoder.Process
	cells   map[cell]*listing
}

// asked is a server with what it uses of a core when nobody asks it.
type asked struct {
	*stage.Server

	idle float64
}

func (l *lister) settle(ctx context.Context, s *stage.Server) (*asked, error) {
	idle, err := s.PID.Idle(ctx, l.Settle)
	return &asked{s, idle}, err
}

func lists(ctx context.Context, s *stage.Stage, p plan, log io.Writer) (section report.Section, err error) {
	l := &lister{Stage: s, plan: p, log: log, cells: map[cell]*listing{}}
	if l.encoder, err = encoder.Start(ctx); err != nil {
		return report.Section{}, err
	}
	defer func() { err = errors.Join(err, l.encoder.Stop()) }()
	if err := l.besidePeer(ctx, p.Members[0]); err != nil {
		return report.Section{}, err
	}
	for _, members := range p.Members[1:] {
		if err := l.withMembers(ctx, members); err != nil {
			return report.Section{}, err
		}
	}
	return l.section(), nil
}

// besidePeer measures with so many members, and a metrics-server too, which is
// gone afterwards: it would only disturb.
func (l *lister) besidePeer(ctx context.Context, members int) (err error) {
	single, err := sim.New(ctx, sim.Options{Members: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, single.Close()) }()
	server, err := l.startPeer(ctx, single)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	return l.withMembers(ctx, members)
}

// startPeer starts a metrics-server that has all Pods in one cluster.
func (l *lister) startPeer(ctx context.Context, single *sim.Fleet) (*stage.Server, error) {
	if err := l.populate(single); err != nil {
		return nil, err
	}
	fmt.Fprintln(l.log, "Starting a metrics-server; it measures twice before it answers ...")
	server, err := l.MetricsServer(ctx, single.Members()[0])
	if err != nil {
		return nil, err
	}
	for _, pods := range l.Pods {
		if _, err := server.AwaitPods(ctx, namespaceOf(pods), pods); err != nil {
			return nil, errors.Join(err, server.Stop())
		}
	}
	if l.peer, err = l.settle(ctx, server); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return server, nil
}

func (l *lister) populate(fleet *sim.Fleet) error {
	for _, pods := range l.Pods {
		if err := spread(fleet.Members(), namespaceOf(pods), pods); err != nil {
			return err
		}
	}
	return nil
}

func (l *lister) withMembers(ctx context.Context, members int) (err error) {
	fmt.Fprintf(l.log, "Lists of Pods from %d members ...\n", members)
	fleet, err := l.Enlist(ctx, sim.Options{Members: members})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Dismiss(ctx, fleet)) }()
	if err := l.populate(fleet); err != nil {
		return err
	}
	server, err := l.Adapter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	whole := map[int][]byte{}
	for _, pods := range l.Pods {
		if whole[pods], err = server.AwaitPods(ctx, namespaceOf(pods), pods); err != nil {
			return err
		}
	}
	adapter, err := l.settle(ctx, server)
	if err != nil {
		return err
	}
	for _, pods := range l.Pods {
		for _, format := range formats {
			if err := l.rounds(ctx, adapter, cell{members: members, pods: pods, format: format.name}, format.media, whole[pods]); err != nil {
				return err
			}
		}
	}
	return nil
}

// rounds measures the adapter and its peers side by side, again and again.
func (l *lister) rounds(ctx context.Context, adapter *asked, c cell, media string, list []byte) error {
	for range l.Rounds {
		alone, err := l.encoder.Do(encoder.Order{List: list, Media: media, For: l.For})
		if err != nil {
			return err
		}
		list = nil // it is kept
		l.keepEncoder(cell{encoderAlone, c.members, c.pods, c.format, false, 0}, alone)
		if c.members == l.Members[0] { // it costs the same with others
			if err := l.ask(ctx, adapter, cell{noList, c.members, c.pods, c.format, false, l.Clients[0]}, stage.JSON); err != nil {
				return err
			}
		}
		for _, gzip := range []bool{false, true} {
			for _, clients := range l.Clients {
				c.gzip, c.clients = gzip, clients
				if err := l.round(ctx, adapter, c, media); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (l *lister) round(ctx context.Context, adapter *asked, c cell, media string) error {
	c.server = ours
	if err := l.ask(ctx, adapter, c, media); err != nil {
		return err
	}
	if c.members != l.Members[0] {
		return nil // the peer knows of no members, so once is enough
	}
	c.server, c.members = metricsServer, 0
	return l.ask(ctx, l.peer, c, media)
}

func (l *lister) ask(ctx context.Context, server *asked, c cell, media string) error {
	before, err := server.Allocated(ctx)
	if err != nil {
		return err
	}
	url := server.Pods(namespaceOf(c.pods))
	if c.server == noList {
		url = server.Discovery()
	}
	q := measure.Question{URL: func(int) string { return url }, Accept: media, Gzip: c.gzip}
	cost, err := server.PID.Costs(ctx, server.Client, q, measure.Load{Clients: c.clients, For: l.For}, server.idle)
	if err != nil {
		return err
	}
	after, err := server.Allocated(ctx)
	if err != nil {
		return err
	}
	kept := l.at(c)
	kept.p50 = append(kept.p50, cost.Latencies.Quantile(0.5))
	kept.p90 = append(kept.p90, cost.Latencies.Quantile(0.9))
	kept.p99 = append(kept.p99, cost.Latencies.Quantile(0.99))
	kept.cpu = append(kept.cpu, cost.CPU)
	kept.bytes = append(kept.bytes, float64(cost.Bytes))
	kept.allocated = append(kept.allocated, (after-before)/float64(len(cost.Latencies)))
	kept.perSecond = append(kept.perSecond, cost.PerSecond())
	return nil
}

func (l *lister) keepEncoder(c cell, cost encoder.Cost) {
	kept := l.at(c)
	kept.cpu = append(kept.cpu, cost.CPU)
	kept.bytes = append(kept.bytes, cost.Bytes)
	kept.allocated = append(kept.allocated, cost.Allocated)
}

func (l *lister) at(c cell) *listing {
	if l.cells[c] == nil {
		l.cells[c] = &listing{}
	}
	return l.cells[c]
}

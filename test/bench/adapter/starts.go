// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/fleetscale/fleetscale/pkg/chart"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

const (
	// podsOfEach is how many Pods a member has where their number does not matter.
	podsOfEach = 20
	// wholeWithin is how many seconds a start may take with any number of members.
	wholeWithin = 5
)

// beginning is what was seen of one start.
type beginning struct {
	whole float64 // seconds from the start of the process to the first whole answer
	// unready and before are answers before it, until the adapter said that it was ready, and since.
	unready, before refusals
	wrong           int // those that lacked Pods as if they were whole
	empty           int // those without any Pod
}

func newBeginning() beginning { return beginning{unready: refusals{}, before: refusals{}} }

// beginnings are those with one number of members.
type beginnings struct {
	members int
	whole   measure.Samples
	beginning
}

func newBeginnings(members int, all []beginning) beginnings {
	b := beginnings{members: members, beginning: newBeginning()}
	for _, one := range all {
		b.whole = append(b.whole, one.whole)
		b.unready.add(one.unready)
		b.before.add(one.before)
		b.wrong += one.wrong
		b.empty += one.empty
	}
	return b
}

func starts(ctx context.Context, s *stage.Stage, p plan, log io.Writer) (report.Section, error) {
	var all []beginnings
	for _, members := range p.Starts {
		fmt.Fprintf(log, "Starts with %d members ...\n", members)
		seen, err := startWith(ctx, s, members, p.Rounds)
		if err != nil {
			return report.Section{}, err
		}
		all = append(all, newBeginnings(members, seen))
	}
	pods := podsOfEach * p.Starts[len(p.Starts)-1]
	peer, err := startsOfPeer(ctx, s, pods, p.PeerStarts)
	if err != nil {
		return report.Section{}, err
	}
	return startSection(all, pods, peer), nil
}

func startSection(all []beginnings, pods int, peer measure.Samples) report.Section {
	last := all[len(all)-1]
	wrong := 0
	s := report.Section{
		Name: "start", Title: "Start of the adapter",
		Text: []string{
			fmt.Sprintf("From the start of the process until it first answers with the Pods of all members, %d of each, asked for every 10 ms; "+
				"all members are registered before. "+
				"There is no answer until it listens, and 403 until it knows the hub's authority for certificates of clients; it says that it is "+
				"not ready then, so no Service leads to it. "+
				"An answer that lacks Pods has to say so; *wrong* are those that did not, and those that were empty.", podsOfEach),
		},
		Tables: []report.Table{{Header: []string{"members", "first whole answer, seconds", "of metrics-server's",
			"answers until it said that it was ready, of all rounds", "answers since, before the whole one", "wrong answers"}}},
		Plots:   []report.Plot{{Plot: chart.Plot{Title: "First whole answer", X: "members", Y: "seconds", Series: []chart.Series{{Name: ours}}}}},
		Figures: map[string][]float64{"metrics-server/whole_seconds": peer},
	}
	if len(peer) > 0 {
		s.Text = append(s.Text, fmt.Sprintf("A real metrics-server with as many Pods as the most members have, %d, gives its first whole "+
			"answer after %s s: it measures twice before.", pods, peer))
	}
	for _, b := range all {
		bad := b.wrong + b.empty
		wrong += bad
		s.Tables[0].Rows = append(s.Tables[0].Rows,
			[]string{fmt.Sprint(b.members), b.whole.String(), measure.Short(b.whole.Median() / peer.Median()), b.unready.String(), b.before.String(),
				fmt.Sprint(bad)})
		s.Plots[0].Series[0].Points = append(s.Plots[0].Series[0].Points, b.whole.Point(float64(b.members)))
		s.Figures[fmt.Sprintf("whole_seconds/members=%d", b.members)] = b.whole
		s.Figures[fmt.Sprintf("wrong/members=%d", b.members)] = []float64{float64(bad)}
	}
	s.Reaches = []report.Reach{
		atMost(fmt.Sprintf("first whole answer with %d members", last.members), wholeWithin, "s", last.whole),
		{What: "answers that are empty, or lack Pods and do not say so", Goal: "none", Measured: fmt.Sprint(wrong), Met: wrong == 0},
	}
	return s
}

func startWith(ctx context.Context, s *stage.Stage, members, rounds int) (all []beginning, err error) {
	fleet, err := s.Enlist(ctx, sim.Options{Members: members})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Dismiss(ctx, fleet)) }()
	pods := podsOfEach * members
	if err := spread(fleet.Members(), namespaceOf(pods), pods); err != nil {
		return nil, err
	}
	for range rounds {
		b, err := startOnce(ctx, s, pods)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

func startOnce(ctx context.Context, s *stage.Stage, pods int) (beginning, error) {
	server, start, err := s.PrepareAdapter(ctx, nil)
	if err != nil {
		return beginning{}, err
	}
	started := make(chan error, 1)
	var ready atomic.Bool
	begin := time.Now()
	go func() {
		err := start(ctx)
		ready.Store(true)
		started <- err
	}()
	b, err := watchStart(ctx, server, pods, begin, ready.Load)
	if startErr := <-started; startErr != nil {
		return b, errors.Join(startErr, err)
	}
	return b, errors.Join(err, server.Stop())
}

func watchStart(ctx context.Context, server *stage.Server, pods int, begin time.Time, ready func() bool) (beginning, error) {
	const pause, patience = 10 * time.Millisecond, 2 * time.Minute
	b := newBeginning()
	for {
		was := ready()
		_, err := server.List(ctx, namespaceOf(pods), pods)
		if err == nil {
			b.whole = time.Since(begin).Seconds()
			return b, nil
		}
		b.add(err, was)
		if time.Since(begin) > patience || measure.Pass(ctx, pause) != nil {
			return b, fmt.Errorf("starting an adapter: no whole answer: %w", err)
		}
	}
}

// add counts an answer that was not whole.
func (b *beginning) add(err error, ready bool) {
	var refusal *stage.Refusal
	seen := b.unready
	if ready {
		seen = b.before
	}
	switch {
	case errors.Is(err, stage.ErrEmpty):
		b.empty++
	case errors.Is(err, stage.ErrNotWhole):
		b.wrong++
	case errors.Is(err, stage.ErrPartial):
		seen[http.StatusOK]++
	case errors.As(err, &refusal):
		seen[refusal.Code]++
	default:
		seen[0]++
	}
}

// startsOfPeer returns those of a metrics-server, in seconds.
func startsOfPeer(ctx context.Context, s *stage.Stage, pods, rounds int) (whole measure.Samples, err error) {
	single, err := sim.New(ctx, sim.Options{Members: 1})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, single.Close()) }()
	m := single.Members()[0]
	if err := spread(single.Members(), namespaceOf(pods), pods); err != nil {
		return nil, err
	}
	for range rounds {
		begin := time.Now()
		server, err := s.MetricsServer(ctx, m)
		if err != nil {
			return nil, err
		}
		_, err = server.AwaitPods(ctx, namespaceOf(pods), pods)
		whole = append(whole, time.Since(begin).Seconds())
		if err := errors.Join(err, server.Stop()); err != nil {
			return nil, err
		}
	}
	return whole, nil
}

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

// podsOfEach is how many Pods a member has where their number does not matter.
const podsOfEach = 20

// beginning is what was seen of one start.
type beginning struct {
	whole   float64 // seconds from the start of the process to the first whole answer
	lacking int     // answers before it that lacked Pods and said so
	wrong   int     // answers before it that lacked Pods as if they were whole
}

func starts(ctx context.Context, s *stage.Stage, p plan, log io.Writer) (report.Section, error) {
	section := report.Section{
		Name: "start", Title: "Start of the adapter",
		Text: []string{
			"From the start of the process until it first answers with the Pods of all members, asked for every 10 ms; all members are registered before. " +
				"An answer that lacks Pods has to say so; *wrong* are those that did not.",
		},
		Tables:  []report.Table{{Header: []string{"members", "first whole answer, seconds", "partial answers before, which said so", "wrong answers before"}}},
		Plots:   []report.Plot{{Title: "First whole answer", X: "members", Y: "seconds", Series: []report.Series{{Name: ours}}}},
		Figures: map[string][]float64{},
	}
	for _, members := range p.Starts {
		fmt.Fprintf(log, "Starts with %d members ...\n", members)
		all, err := startWith(ctx, s, members, p.Rounds)
		if err != nil {
			return section, err
		}
		var whole measure.Samples
		lacking, wrong := 0, 0
		for _, b := range all {
			whole = append(whole, b.whole)
			lacking += b.lacking
			wrong += b.wrong
		}
		section.Tables[0].Rows = append(section.Tables[0].Rows, []string{fmt.Sprint(members), whole.String(), fmt.Sprint(lacking), fmt.Sprint(wrong)})
		section.Plots[0].Series[0].Points = append(section.Plots[0].Series[0].Points, point(float64(members), whole))
		section.Figures[fmt.Sprintf("whole_seconds/members=%d", members)] = whole
		section.Figures[fmt.Sprintf("wrong/members=%d", members)] = []float64{float64(wrong)}
	}
	return section, nil
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
	server, start, err := s.PrepareAdapter(ctx)
	if err != nil {
		return beginning{}, err
	}
	started := make(chan error, 1)
	begin := time.Now()
	go func() { started <- start(ctx) }()
	b, err := watchStart(ctx, server, pods, begin)
	if startErr := <-started; startErr != nil {
		return b, errors.Join(startErr, err)
	}
	return b, errors.Join(err, server.Stop())
}

func watchStart(ctx context.Context, server *stage.Server, pods int, begin time.Time) (b beginning, err error) {
	const pause, patience = 10 * time.Millisecond, 2 * time.Minute
	for {
		_, err := server.List(ctx, namespaceOf(pods), pods)
		switch {
		case err == nil:
			b.whole = time.Since(begin).Seconds()
			return b, nil
		case errors.Is(err, stage.ErrNotWhole):
			b.wrong++
		case errors.Is(err, stage.ErrPartial):
			b.lacking++
		}
		if ctx.Err() != nil || time.Since(begin) > patience {
			return b, fmt.Errorf("starting an adapter: no whole answer: %w", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

// Archive is a record that is read again by each question: there is more in it than should be in memory.
type Archive struct {
	// Open returns the record as it is now.
	Open func() (io.ReadCloser, error)
	turn chan struct{}
}

const (
	// mostReplayed is how many decisions of an object are kept at one time, the latest: those of eight days, at one in 15 s.
	mostReplayed = 50_000
	// mostWeight is how many clusters they have together: those of 20 in each.
	mostWeight = 20 * mostReplayed
)

// NewArchive returns one of which one question at a time is answered.
func NewArchive(open func() (io.ReadCloser, error)) *Archive {
	return &Archive{Open: open, turn: make(chan struct{}, 1)}
}

// Each does something of each record of the objects that are wanted, of whichever mode: they are without their UID, and as
// [recording.Object.Whose] has them. One at a time reads.
func (a *Archive) Each(ctx context.Context, wanted func(recording.Object) bool, do func(*recording.Record)) (torn bool, err error) {
	read, err := a.each(ctx, wanted, do)
	return read.torn, err
}

func (a *Archive) each(ctx context.Context, wanted func(recording.Object) bool, do func(*recording.Record)) (read extent, err error) {
	err = a.InTurn(ctx, func() error {
		in, err := a.Open()
		if err != nil {
			return err
		}
		defer in.Close()
		read, err = scan(recording.NewDecoder(in), wanted, func(r *recording.Record) error {
			do(r)
			return ctx.Err()
		})
		return err
	})
	return read, err
}

// InTurn does something while nobody else reads.
func (a *Archive) InTurn(ctx context.Context, do func() error) error {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return do()
}

// Replay is what the decisions of an object would have been with fields of the spec set, as a page shows it.
func (a *Archive) Replay(ctx context.Context, of recording.Object, set []string, cutOff int64) (*View, error) {
	l := &loaded{Object: of}
	var err error
	latest := latest{}
	if l.extent, err = a.each(ctx, func(o recording.Object) bool { return o == of }, latest.add); err != nil {
		return nil, err
	}
	l.records = latest.records
	l.settle()
	run := replay.Options{CutOff: cutOff}
	if len(set) > 0 {
		o := &Options{Set: set}
		run.Change, run.ChangeSizes = o.change(l), o.changeSizes(l)
	}
	result, err := replay.Run(l.records, run)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.title(), err)
	}
	return newReport(l, result, 0, len(set) > 0).view(set), nil
}

// latest are the records that came last.
type latest struct {
	records []*recording.Record
	weight  int
}

func weightOf(r *recording.Record) int {
	switch {
	case r.Split != nil:
		return 1 + len(r.Split.Snapshot.Sites)
	case r.Sizes != nil:
		q := &r.Sizes.Question
		return 1 + len(q.Template.Containers)*(1+len(q.Clusters))
	}
	return 1 + len(r.Question.Clusters)
}

func (l *latest) add(r *recording.Record) {
	l.records = append(l.records, r)
	l.weight += weightOf(r)
	if len(l.records) <= mostReplayed && l.weight <= mostWeight {
		return
	}
	lost := len(l.records)/4 + 1
	for _, old := range l.records[:lost] {
		l.weight -= weightOf(old)
	}
	l.records = slices.Clone(l.records[lost:])
}

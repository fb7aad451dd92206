// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

// Archive is a record in a file, which is read again by each question: there is more in it than should be in memory.
type Archive struct {
	File string
	turn chan struct{}
}

// mostReplayed is how many decisions of an object are kept at one time, the latest: those of eight days, at one in 15 s.
const mostReplayed = 50_000

// OpenArchive returns the one in a file, which has to be there.
func OpenArchive(file string) (*Archive, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	return &Archive{File: file, turn: make(chan struct{}, 1)}, nil
}

// Each does something of each record of the objects that are wanted, which are without their UID. One at a time reads.
func (a *Archive) Each(ctx context.Context, wanted func(recording.Object) bool, do func(*recording.Record)) (torn bool, err error) {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	file, err := os.Open(a.File)
	if err != nil {
		return false, err
	}
	defer file.Close()
	return scan(file, wanted, func(r *recording.Record) error {
		do(r)
		return ctx.Err()
	})
}

// Replay is what the decisions of an object would have been with fields of the spec set, as a page shows it.
func (a *Archive) Replay(ctx context.Context, of recording.Object, set []string, cutOff int64) (*View, error) {
	l := &loaded{Object: of}
	var err error
	l.torn, err = a.Each(ctx, func(o recording.Object) bool { return o == of }, func(r *recording.Record) {
		if l.records = append(l.records, r); len(l.records) > 2*mostReplayed {
			l.records = slices.Clone(l.records[mostReplayed:])
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(l.records, func(a, b *recording.Record) int { return a.Question.Now.Compare(b.Question.Now) })
	l.records = l.records[max(0, len(l.records)-mostReplayed):]
	run := replay.Options{CutOff: cutOff}
	if len(set) > 0 {
		run.Change = (&Options{Set: set}).change(l)
	}
	result, err := replay.Run(l.records, run)
	if err != nil {
		return nil, fmt.Errorf("FederatedHPA %s/%s: %w", of.Namespace, of.Name, err)
	}
	return newReport(l, result, 0, len(set) > 0).view(set), nil
}

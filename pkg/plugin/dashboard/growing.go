// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"io"
	"maps"

	"github.com/fleetscale/fleetscale/pkg/plugin/replaying"
	"github.com/fleetscale/fleetscale/pkg/recording"
)

// growing is what was read of a record that may grow; then only what is new is read. One at a time reads.
type growing struct {
	decoder *recording.Decoder // nil: nothing was read
	pasts   map[recording.Object]*recorded
}

// follow has the pasts of objects be as the record is now, and those that it has of others. What it has read when ctx ends it does not read
// again.
func (g *growing) follow(ctx context.Context, in io.ReaderAt, of []recording.Object) error {
	if g.decoder == nil || !g.decoder.Resume(in) {
		g.begin(in)
	}
	fresh := g.missing(of)
	if len(fresh) > 0 && len(g.pasts)+len(fresh) > mostPasts {
		clear(g.pasts) // those whose pages are open are read again
		fresh = g.missing(of)
	}
	if err := g.catchUp(ctx, in, fresh); err != nil {
		return err
	}
	torn, err := g.take(ctx, g.decoder, g.pasts)
	for _, past := range g.pasts {
		past.Torn = torn
	}
	return err
}

// catchUp reads pasts as far as the others were read, and has them follow with these.
func (g *growing) catchUp(ctx context.Context, in io.ReaderAt, fresh map[recording.Object]*recorded) error {
	if len(fresh) > 0 {
		torn, err := g.take(ctx, recording.NewDecoder(io.NewSectionReader(in, 0, g.decoder.Offset())), fresh)
		switch {
		case err != nil:
			return err
		case torn: // it is not what was read before
			g.decoder = nil
			return recording.ErrTorn
		}
	}
	maps.Copy(g.pasts, fresh)
	return nil
}

// begin begins again: the record is another one.
func (g *growing) begin(in io.ReaderAt) {
	g.decoder = recording.NewDecoder(nil)
	g.decoder.Resume(in)
	before := g.pasts
	g.pasts = map[recording.Object]*recorded{}
	for of := range before {
		g.pasts[of] = &recorded{most: mostValues}
	}
}

// missing are the pasts that are not followed yet; they are empty.
func (g *growing) missing(of []recording.Object) map[recording.Object]*recorded {
	all := map[recording.Object]*recorded{}
	for _, o := range of {
		if g.pasts[o] == nil {
			all[o] = &recorded{most: mostValues}
		}
	}
	return all
}

// take adds what the decoder has not read yet to pasts. What cannot be read makes void what was.
func (g *growing) take(ctx context.Context, d *recording.Decoder, pasts map[recording.Object]*recorded) (torn bool, err error) {
	torn, err = replaying.Scan(d, func(o recording.Object) bool { return pasts[o] != nil }, func(r *recording.Record) error {
		of := r.Object.Whose()
		of.UID = ""
		pasts[of].add(r)
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		g.decoder = nil
	}
	return torn, err
}

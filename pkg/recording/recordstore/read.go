// SPDX-License-Identifier: Apache-2.0

package recordstore

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/fleetscale/fleetscale/pkg/recording"
)

// Copy writes the records of the wanted objects to w, as one stream, from that time on. A segment whose end is torn off is copied
// up to there.
func (s *Store) Copy(ctx context.Context, w io.Writer, wanted func(recording.Object) bool, since time.Time) error {
	openers, err := s.kept.readers(since)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if _, err := out.WriteString(recording.Magic); err != nil {
		return err
	}
	c := copying{encoder: recording.NewEncoder(), out: out, since: since}
	for _, open := range openers {
		if err := c.segment(ctx, open, wanted); err != nil {
			return err
		}
	}
	return out.Flush()
}

// copying is one stream that is made of segments.
type copying struct {
	encoder *recording.Encoder
	out     *bufio.Writer
	since   time.Time
	frame   []byte
}

func (c *copying) segment(ctx context.Context, open opener, wanted func(recording.Object) bool) error {
	in, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it has become too old meanwhile
	}
	if err != nil {
		return err
	}
	defer in.Close()
	d := recording.NewDecoder(in)
	d.Wanted = func(o recording.Object) bool { return ctx.Err() == nil && wanted(o) }
	for {
		r, err := d.Next()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF), errors.Is(err, recording.ErrTorn):
			return nil
		case err != nil:
			return err
		case r.Question.Now.Before(c.since):
			continue
		}
		if c.frame, err = c.encoder.Append(c.frame[:0], r); err != nil {
			return err
		}
		if _, err := c.out.Write(c.frame); err != nil {
			return err
		}
	}
}

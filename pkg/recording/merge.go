// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"errors"
	"io"
	"slices"
)

// Merge writes the records of several streams, each in the order of time, as one that is. What several of them have is written once. It
// is an error if one of them cannot be read to its end.
func Merge(w io.Writer, streams ...io.Reader) error {
	var next []*upcoming
	for _, stream := range streams {
		u := &upcoming{decoder: NewDecoder(stream)}
		if err := u.advance(); err != nil {
			return err
		}
		next = append(next, u)
	}
	if _, err := io.WriteString(w, Magic); err != nil {
		return err
	}
	encoder, last, buffer := NewEncoder(), (*Record)(nil), []byte(nil)
	for {
		next = slices.DeleteFunc(next, func(u *upcoming) bool { return u.record == nil })
		if len(next) == 0 {
			return nil
		}
		first := slices.MinFunc(next, func(a, b *upcoming) int { return a.record.Question.Now.Compare(b.record.Question.Now) })
		if r := first.record; last == nil || last.Object != r.Object || !last.Question.Now.Equal(r.Question.Now) {
			var err error
			if buffer, err = encoder.Append(buffer[:0], r); err != nil {
				return err
			}
			if _, err := w.Write(buffer); err != nil {
				return err
			}
			last = r
		}
		if err := first.advance(); err != nil {
			return err
		}
	}
}

// upcoming is a stream with the record that comes next; nil: none does.
type upcoming struct {
	decoder *Decoder
	record  *Record
}

func (u *upcoming) advance() error {
	r, err := u.decoder.Next()
	if errors.Is(err, io.EOF) {
		u.record = nil
		return nil
	}
	u.record = r
	return err
}

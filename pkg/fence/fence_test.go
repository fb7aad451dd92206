// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

type sent struct{ n int }

func (s *sent) RoundTrip(*http.Request) (*http.Response, error) {
	s.n++
	return &http.Response{}, nil
}

type body struct {
	io.Reader
	closed bool
}

func (b *body) Close() error {
	b.closed = true
	return nil
}

func TestTransport(t *testing.T) {
	lost := errors.New("the Lease was lost")
	open, closed := With(context.Background(), func() error { return nil }), With(context.Background(), func() error { return lost })
	for name, c := range map[string]struct {
		ctx    context.Context
		method string
		sends  bool
	}{
		"no fence":            {context.Background(), http.MethodPut, true},
		"open":                {open, http.MethodPut, true},
		"put":                 {closed, http.MethodPut, false},
		"patch":               {closed, http.MethodPatch, false},
		"create":              {closed, http.MethodPost, false},
		"delete":              {closed, http.MethodDelete, false},
		"get":                 {closed, http.MethodGet, true},
		"get, by default":     {closed, "", true},
		"in a context of its": {context.WithoutCancel(closed), http.MethodPut, false},
	} {
		t.Run(name, func(t *testing.T) {
			next, sends := &sent{}, &body{Reader: strings.NewReader("{}")}
			req, err := http.NewRequestWithContext(c.ctx, http.MethodGet, "https://hub/apis", sends)
			if err != nil {
				t.Fatal(err)
			}
			req.Method = c.method
			_, err = Transport(next).RoundTrip(req)
			if c.sends != (next.n == 1) || c.sends != (err == nil) || !c.sends && (!errors.Is(err, lost) || !sends.closed) {
				t.Errorf("sent %d requests, error %v, body closed: %t; want it sent: %t", next.n, err, sends.closed, c.sends)
			}
		})
	}
}

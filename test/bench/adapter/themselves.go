// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/test/sim"
)

// themselves asks as who has no adapter: every question goes to all members at
// once, and is answered when all have answered.
type themselves struct {
	members []*member
}

type member struct {
	url    string
	client http.RoundTripper
}

func newThemselves(fleet *sim.Fleet) (*themselves, error) {
	t := &themselves{}
	for _, m := range fleet.Members() {
		client, err := rest.TransportFor(m.RESTConfig())
		if err != nil {
			return nil, fmt.Errorf("preparing to ask %s: %w", m.Name(), err)
		}
		t.members = append(t.members, &member{m.URL(), client})
	}
	return t, nil
}

var _ http.RoundTripper = (*themselves)(nil)

// RoundTrip returns an answer without a body: 200, or what a member said instead.
func (t *themselves) RoundTrip(r *http.Request) (*http.Response, error) {
	codes := make([]int, len(t.members))
	errs := make([]error, len(t.members))
	var asking sync.WaitGroup
	for i, m := range t.members {
		asking.Go(func() { codes[i], errs[i] = m.ask(r) })
	}
	asking.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: slices.Max(codes), Body: http.NoBody}, nil
}

// ask reads the whole answer.
func (m *member) ask(r *http.Request) (code int, err error) {
	to, err := http.NewRequestWithContext(r.Context(), r.Method, m.url+r.URL.RequestURI(), nil)
	if err != nil {
		return 0, err
	}
	to.Header = r.Header.Clone()
	resp, err := m.client.RoundTrip(to)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// nowhere is not asked.
type nowhere struct{ http.RoundTripper }

func TestHangingPluginHoldsFewRequests(t *testing.T) {
	i := &impatient{next: nowhere{}, pending: make(chan struct{}, 1)}
	i.pending <- struct{}{}
	if _, err := i.RoundTrip(httptest.NewRequest(http.MethodGet, "/", http.NoBody)); err == nil ||
		err.Error() != "the credential plugin does not return" {
		t.Errorf("error = %v, want that the plugin does not return", err)
	}
}

// late answers once nobody waits any longer.
type late struct{ body *closing }

func (l late) RoundTrip(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return &http.Response{Body: l.body}, nil
}

type closing struct {
	io.Reader

	closed chan struct{}
}

func (c *closing) Close() error {
	close(c.closed)
	return nil
}

func TestLateAnswersAreClosed(t *testing.T) {
	body := &closing{closed: make(chan struct{})}
	i := &impatient{next: late{body}, pending: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	for { // which of both comes first is chance
		resp, err := i.RoundTrip(req)
		if err != nil {
			break
		}
		resp.Body.Close()
		body.closed = make(chan struct{})
	}
	select {
	case <-body.closed:
	case <-time.After(10 * time.Second):
		t.Error("an answer that came late was left open")
	}
}

// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"errors"
	"net/http"
)

// mostPending bounds the requests that a hanging credential plugin holds.
const mostPending = 16

var errPluginHangs = errors.New("the credential plugin does not return")

// impatient ends a request with its context though the transport below does
// not: client-go waits for a credential plugin for as long as that runs.
type impatient struct {
	next    http.RoundTripper
	pending chan struct{} // a place for each request below
}

// RoundTrip sends one request.
func (i *impatient) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case i.pending <- struct{}{}:
	default:
		return nil, errPluginHangs
	}
	type result struct {
		resp *http.Response
		err  error
	}
	done := make(chan result)
	ctx := req.Context()
	go func() {
		resp, err := i.next.RoundTrip(req)
		<-i.pending
		select {
		case done <- result{resp, err}:
		case <-ctx.Done():
			if err == nil {
				_ = resp.Body.Close() // too late, nobody reads it
			}
		}
	}()
	select {
	case r := <-done:
		return r.resp, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

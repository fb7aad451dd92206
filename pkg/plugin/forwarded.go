// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Forwarded asks a controller-manager at an address that it serves on loopback, such as one of `kubectl port-forward`. The caller's
// credentials are the hub's, and are not sent.
type Forwarded struct{ at *url.URL }

// ForwardedAt is the one at the address.
func ForwardedAt(address string) (Forwarded, bool) {
	at, err := url.Parse(address)
	return Forwarded{at}, err == nil && at.Scheme == "http" && at.Host != ""
}

// Get asks for a path, until the timeout, for an answer whose body the caller closes.
func (f Forwarded) Get(ctx context.Context, timeout time.Duration, query url.Values, path ...string) (*http.Response, error) {
	at := f.at.JoinPath(path...)
	at.RawQuery = query.Encode()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		cancel()
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("%w; is `kubectl port-forward` of the controller-manager running?", err)
	}
	answer.Body = &ending{answer.Body, cancel}
	return answer, nil
}

// ending ends the request with its body.
type ending struct {
	io.ReadCloser

	end func()
}

func (e *ending) Close() error {
	defer e.end()
	return e.ReadCloser.Close()
}

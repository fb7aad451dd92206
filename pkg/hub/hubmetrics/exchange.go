// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// accept asks for protobuf, which is decoded in a third of JSON's time.
const accept = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON

// api is one of the APIs, as errors and metrics name it.
type api string

const (
	apiResource  api = "resource"
	apiCustom    api = "custom"
	apiExternal  api = "external"
	apiDiscovery api = "discovery"
)

func (a api) unable(err error) error {
	return fmt.Errorf("unable to fetch metrics from %s metrics API: %w", a, err)
}

func (a api) nothing() error { return fmt.Errorf("no metrics returned from %s metrics API", a) }

// exchange sends a request, has its answer read if it is one, and says which
// clusters that holds. An answer whose coverage cannot be read is none.
func (c *Client) exchange(ctx context.Context, a api, request *rest.Request, read func(rest.Result) error) (*fleet.Coverage, error) {
	heard := &heard{}
	sent := time.Now()
	// Retries would hide that a server is overloaded, and ask it the more.
	result := request.SetHeader(fleet.PartialHeader, fleet.PartialAllow).MaxRetries(0).Do(context.WithValue(ctx, heardKey{}, heard))
	err := result.Error()
	answered := err == nil
	if answered {
		err = read(result)
	}
	coverage, unreadable := heard.coverage()
	if err == nil {
		err = unreadable
	}
	c.metrics.observe(a, err, answered, time.Since(sent))
	return coverage, err
}

// heard is what of an answer the client of the API does not tell.
type heard struct{ header http.Header }

type heardKey struct{}

// coverage is nil if the server told none.
func (h *heard) coverage() (*fleet.Coverage, error) {
	switch told := h.header.Values(fleet.CoverageHeader); len(told) {
	case 0:
		return nil, nil
	case 1:
		c, err := fleet.ParseCoverage(told[0])
		if err != nil {
			return nil, err
		}
		return &c, nil
	default:
		return nil, fmt.Errorf("parsing coverage: the header %s is there %d times", fleet.CoverageHeader, len(told))
	}
}

// listen passes the headers of answers to whoever put a heard into a request's
// context, and bounds the answers' bytes.
func listen(next http.RoundTripper) http.RoundTripper { return listener{next} }

type listener struct{ next http.RoundTripper }

func (l listener) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if heard, asked := request.Context().Value(heardKey{}).(*heard); asked {
		heard.header = response.Header
	}
	response.Body = &bounded{response.Body, mostBytes}
	return response, nil
}

// mostBytes are those of one answer, decompressed: 200 000 Pods and more.
const mostBytes = 128 << 20

// bounded fails once more was read than may be.
type bounded struct {
	io.ReadCloser

	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("the answer is larger than %d MiB", mostBytes>>20)
	}
	return n, err
}

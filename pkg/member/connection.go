// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// A connection that carries nothing for pingAfter is asked whether it lives,
// and closed when it does not say so within the request deadline: a peer that
// vanished without a word does not hold it for ever.
const pingAfter = 5 * time.Second

// connection is a way to one API server with one set of credentials. It has a
// transport of its own, not client-go's shared cache, so that it can be closed.
type connection struct {
	digest  [sha256.Size]byte
	base    *url.URL
	client  *rest.RESTClient // for callers: limited
	watch   *rest.RESTClient // for callers: an answer may last
	http    *http.Client     // for probes: not limited
	wire    *wire
	codecs  codecs
	streams *streams
	sockets *http.Transport
	timeout time.Duration
}

// dialing is what all connections of one member have in common.
type dialing struct {
	options Options
	meter   *meter
	limiter flowcontrol.RateLimiter
	reading *Reading
	onFail  func(fleet.Reason)
}

// connect prepares a connection; the first request opens it.
func (d dialing) connect(e endpoint) (*connection, error) {
	config := rest.CopyConfig(e.config)
	config.UserAgent = d.options.UserAgent
	if e.proxy != nil {
		config.Proxy = http.ProxyURL(e.proxy)
	}
	settings, err := config.TransportConfig()
	if err != nil {
		return nil, fmt.Errorf("preparing credentials: %w", err)
	}
	sockets, err := d.sockets(settings, e.proxyHeader)
	if err != nil {
		return nil, err
	}
	authenticated, err := transport.HTTPWrappersForConfig(settings, sockets)
	if err != nil {
		return nil, fmt.Errorf("preparing credentials: %w", err)
	}
	if config.ExecProvider != nil {
		authenticated = &impatient{next: authenticated, pending: make(chan struct{}, mostPending)}
	}
	c := &connection{
		digest:  e.digest(),
		sockets: sockets,
		timeout: d.options.Timeout,
		wire:    &wire{next: authenticated, meter: d.meter, most: d.options.MaxAnswer, onFail: d.onFail, secrets: e.secrets()},
		codecs: codecs{
			d.options.guard.Serializer(scheme.Codecs.WithoutConversion()), d.reading,
			d.options.Timeout, min(mostEvent, d.options.MaxAnswer),
		},
	}
	c.streams = &streams{wire: c.wire, timeout: d.options.Timeout, open: map[*stream]struct{}{}}
	c.http = &http.Client{Transport: c.wire, Timeout: d.options.Timeout, CheckRedirect: stay}
	if err := c.prepareClient(config, d.limiter); err != nil {
		return nil, err
	}
	return c, nil
}

func (d dialing) sockets(settings *transport.Config, proxyHeader http.Header) (*http.Transport, error) {
	tlsConfig, err := transport.TLSConfigFor(settings)
	if err != nil {
		return nil, fmt.Errorf("preparing TLS: %w", err)
	}
	dial := (&net.Dialer{Timeout: d.options.Timeout}).DialContext
	if settings.DialHolder != nil {
		dial = settings.DialHolder.Dial // a credential plugin closes its connections when certificates change
	}
	proxy := http.ProxyFromEnvironment
	if settings.Proxy != nil {
		proxy = settings.Proxy
	}
	return &http.Transport{
		Proxy:               proxy,
		ProxyConnectHeader:  proxyHeader,
		DialContext:         dial,
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: d.options.Timeout,
		DisableCompression:  settings.DisableCompression,
		MaxIdleConnsPerHost: 25, // as client-go; only HTTP/1 needs more than one
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: d.options.Timeout},
	}, nil
}

func (c *connection) prepareClient(config *rest.Config, limiter flowcontrol.RateLimiter) error {
	config.RateLimiter = limiter
	config.NegotiatedSerializer = c.codecs
	config.WarningHandlerWithContext = rest.NoWarnings{} // warnings of members are not ours to log
	var err error
	if c.base, _, err = rest.DefaultServerUrlFor(config); err != nil {
		return fmt.Errorf("reading the address: %w", err)
	}
	if c.client, err = rest.UnversionedRESTClientForConfigAndClient(config, c.http); err != nil {
		return fmt.Errorf("preparing the client: %w", err)
	}
	if c.watch, err = rest.UnversionedRESTClientForConfigAndClient(config, &http.Client{Transport: c.streams, CheckRedirect: stay}); err != nil {
		return fmt.Errorf("preparing the client for watches: %w", err)
	}
	return nil
}

// stay does not follow redirects: an API server sends none, and credentials
// must not go elsewhere.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// retire ends a connection. Who has just taken its client may use it for one
// deadline more, and so do answers that last; after another one, all requests
// have ended and so can the sockets.
func (c *connection) retire() {
	c.sockets.CloseIdleConnections()
	time.AfterFunc(c.timeout, func() {
		c.wire.ended.Store(true)
		c.streams.end()
		time.AfterFunc(c.timeout, c.sockets.CloseIdleConnections)
	})
}

// limiter bounds the time spent waiting for our own limit, and says whose limit it is.
type limiter struct {
	flowcontrol.RateLimiter

	timeout time.Duration
}

func (l limiter) Wait(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	if err := l.RateLimiter.Wait(bounded); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return silencef(fleet.ReasonRateLimited, "our own limit of requests to this cluster (--member-qps, --member-burst) is reached")
	}
	return nil
}

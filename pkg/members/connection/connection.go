// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/fleetscale/fleetscale/pkg/fence"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/readonly"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// A connection that carries nothing for pingAfter is asked whether it lives,
// and closed when it does not say so within the request deadline: a peer that
// vanished without a word does not hold it forever.
const pingAfter = 5 * time.Second

// mostUnread bounds the bytes that a connection has received and nobody has read yet, which count nowhere else: those of one answer
// may be half of them, so that one which nobody reads does not hold up all others. By default it would be 4 MiB of each answer and
// 1 GiB in all, and a member that sends faster than a busy machine reads fills that. Over 100 ms, this still lets 10 MiB a second through.
const mostUnread = 2 << 20

// headerTable bounds the table of headers that a connection has sent, in bytes. The default of 4096 takes several times as much memory, for
// each member, to save some bytes of a request. The table of what it receives is left as it is: there are servers that mind another size.
const headerTable = 256

// Connection is a way to one API server with one set of credentials. It has a
// transport of its own, not client-go's shared cache, so that it can be closed.
type Connection struct {
	digest  [sha256.Size]byte
	base    *url.URL
	client  *rest.RESTClient // for callers: limited
	watch   *rest.RESTClient // for callers: an answer may last
	http    *http.Client     // for probes: not limited
	wire    *wire
	codecs  codecs
	streams *streams
	sockets *http.Transport
	login   *login // nil: no plugin is run
	timeout time.Duration
	// authority is who verified the server; nil: it has not answered.
	authority      atomic.Pointer[authority]
	namesAuthority bool
}

// Connect prepares a connection; the first request opens it.
func (p *Peer) Connect(e registration.Endpoint) (*Connection, error) {
	config := rest.CopyConfig(e.Config)
	config.UserAgent = p.options.UserAgent
	config.Dial = p.reading.intake.listening(dialer(p.options.Timeout, p.options.AllowLocal).DialContext)
	if e.Proxy != nil {
		config.Proxy = http.ProxyURL(e.Proxy)
	}
	login, err := p.login(config, e.Trusted)
	if err != nil {
		return nil, fmt.Errorf("preparing the credential plugin: %w", err)
	}
	settings, err := config.TransportConfig()
	if err != nil {
		return nil, fmt.Errorf("preparing credentials: %w", err)
	}
	if login != nil {
		settings.TLS.GetCertHolder = &transport.GetCertHolder{GetCert: login.certificate}
	}
	sockets, err := p.sockets(settings, e.ProxyHeader)
	if err != nil {
		return nil, err
	}
	sent := &carried{RoundTripper: sockets}
	authenticated, err := transport.HTTPWrappersForConfig(settings, login.before(sent))
	if err != nil {
		return nil, fmt.Errorf("preparing credentials: %w", err)
	}
	most := min(p.options.MaxAnswer, p.options.budget.answer())
	c := &Connection{
		digest: e.Digest(), namesAuthority: e.NamesAuthority(),
		sockets: sockets, login: login,
		timeout: p.options.Timeout,
		wire: &wire{
			next: authenticated, limiter: p.limiter, meter: &p.meter, most: most, intake: p.reading.intake, onFail: p.onFail,
			secrets: func() []string { return append(e.Secrets(), sent.secrets()...) },
			plain:   settings.DisableCompression,
		},
		codecs: codecs{
			answers().guard.Serializer(answers().plain), p.reading, p.options.Timeout, min(mostEvent, most), p.reading.intake, false,
		},
	}
	c.streams = &streams{wire: c.wire, timeout: p.options.Timeout, open: map[*stream]struct{}{}}
	if err := c.prepareClient(config, p.options.ReadOnly); err != nil {
		return nil, err
	}
	return c, nil
}

func (p *Peer) sockets(settings *transport.Config, proxyHeader map[string][]string) (*http.Transport, error) {
	tlsConfig, err := transport.TLSConfigFor(settings)
	if err != nil {
		return nil, fmt.Errorf("preparing TLS: %w", err)
	}
	proxy := http.ProxyFromEnvironment
	if settings.Proxy != nil {
		proxy = settings.Proxy
	}
	header := http.Header{}
	for name, values := range proxyHeader {
		for _, value := range values {
			header.Add(name, value)
		}
	}
	return &http.Transport{
		Proxy:               proxy,
		ProxyConnectHeader:  header,
		DialContext:         settings.DialHolder.Dial,
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: p.options.Timeout,
		DisableCompression:  true, // the wire asks for it

		MaxResponseHeaderBytes: mostHeaders,

		MaxIdleConnsPerHost: 25, // as client-go; only HTTP/1 needs more than one
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   true,
		HTTP2: &http.HTTP2Config{
			SendPingTimeout: pingAfter, PingTimeout: p.options.Timeout,
			MaxReceiveBufferPerConnection: mostUnread, MaxReceiveBufferPerStream: mostUnread / 2,
			MaxEncoderHeaderTableSize: headerTable,
		},
	}, nil
}

func (c *Connection) prepareClient(config *rest.Config, readOnly bool) error {
	config.RateLimiter, config.QPS = nil, -1 // the wire has a limit
	config.NegotiatedSerializer = c.codecs
	config.WarningHandlerWithContext = rest.NoWarnings{} // warnings of members are not ours to log
	var err error
	if c.base, _, err = rest.DefaultServerUrlFor(config); err != nil {
		return fmt.Errorf("reading the address: %w", err)
	}
	c.wire.base = strings.TrimRight(c.base.JoinPath().Path, "/")
	allowed := func(all http.RoundTripper) http.RoundTripper {
		if readOnly {
			return readonly.Transport(c.wire.base, all)
		}
		return fence.Transport(all)
	}
	c.http = &http.Client{Transport: allowed(c.wire), Timeout: c.timeout, CheckRedirect: stay}
	if c.client, err = rest.UnversionedRESTClientForConfigAndClient(config, c.http); err != nil {
		return fmt.Errorf("preparing the client: %w", err)
	}
	lasting := c.codecs
	lasting.lasting = true
	config.NegotiatedSerializer = lasting
	if c.watch, err = rest.UnversionedRESTClientForConfigAndClient(config,
		&http.Client{Transport: allowed(c.streams), CheckRedirect: stay}); err != nil {
		return fmt.Errorf("preparing the client for watches: %w", err)
	}
	return nil
}

// Client limits its requests to the peer's budget.
func (c *Connection) Client() rest.Interface { return c.client }

// WatchClient is Client for answers that last: a watch, or a long download. Errors
// on the way to the cluster are a [*fleet.Silence].
func (c *Connection) WatchClient() rest.Interface { return c.watch }

// Leads is true when the connection is one to the endpoint.
func (c *Connection) Leads(e registration.Endpoint) bool { return c.digest == e.Digest() }

const (
	acceptMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	// mostProbeBytes bounds what a probe reads of an answer.
	mostProbeBytes = 1 << 20
)

// Get asks for the metadata of one object, past the callers' limit, and reads the clock from the answer.
func (c *Connection) Get(ctx context.Context, path string) (body []byte, code int, err error) {
	ctx = context.WithValue(ctx, unlimited{}, true)
	sent := time.Time{} // once a plugin and a connection are no longer waited for
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		if sent.IsZero() { // of a 404, it is asked for something else after that
			sent = time.Now()
		}
	}})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.JoinPath(path).String(), nil)
	if err != nil {
		return nil, 0, fmt.Errorf("asking for %s: %w", path, err)
	}
	req.Header.Set("Accept", acceptMetadata)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	c.noteAuthority(resp.TLS)
	c.wire.meter.observeClock(resp.Header, sent, time.Now())
	body, err = io.ReadAll(io.LimitReader(resp.Body, mostProbeBytes))
	return body, resp.StatusCode, err
}

// SawNested is true when the cluster was found to be served by fleetscale, and not otherwise since.
func (c *Connection) SawNested() bool { return c.wire.nestedAt.Load() != nil }

// CheckNested finds out whether the cluster is served by fleetscale: at the API
// where that was seen last, or else at path. Only an answer settles it: a failure
// leaves the matter as it was.
func (c *Connection) CheckNested(ctx context.Context, path string) *fleet.Silence {
	if seen := c.wire.nestedAt.Load(); seen != nil {
		path = *seen
	}
	_, _, err := c.Get(ctx, path)
	var silence *fleet.Silence
	if errors.As(err, &silence) && silence.Reason == ReasonNestedHub {
		return silence
	}
	if err == nil {
		c.wire.nestedAt.Store(nil)
	}
	return nil
}

// stay does not follow redirects: an API server sends none, and credentials
// must not go elsewhere.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Retire ends a connection. Who has just taken its client may use it for one
// deadline more, and so do answers that last; after another one, all requests
// have ended and so can the sockets.
func (c *Connection) Retire() {
	c.sockets.CloseIdleConnections()
	time.AfterFunc(c.timeout, func() {
		c.wire.ended.Store(true)
		c.streams.end()
		c.login.end()
		time.AfterFunc(c.timeout, c.sockets.CloseIdleConnections)
	})
}

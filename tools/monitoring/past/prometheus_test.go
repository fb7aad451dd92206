// SPDX-License-Identifier: Apache-2.0

package past

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/grafana/regexp"
	"github.com/prometheus/client_golang/prometheus"
	configutil "github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/route"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/scrape"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	promapi "github.com/prometheus/prometheus/web/api/v1"
)

// lookback is for how long a sample counts, as it does in a Prometheus without flags.
const lookback = 5 * time.Minute

// job is the one in the configuration.
const job = "controller-manager"

// honoring is the configuration that docs/operate.md has made, in short.
const honoring = `
global: {scrape_interval: 15s, scrape_timeout: 5s}
scrape_configs:
- {job_name: controller-manager, honor_labels: true}
`

// database is a Prometheus' own, with what it scrapes.
type database struct {
	t       *testing.T
	db      *tsdb.DB
	network *network
	scraper *scrape.Manager
	targets chan map[string][]*targetgroup.Group
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	options := tsdb.DefaultOptions()
	options.RetentionDuration = (30 * 24 * time.Hour).Milliseconds()
	db, err := tsdb.Open(t.TempDir(), slog.New(slog.DiscardHandler), nil, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &database{t: t, db: db, network: &network{listening: map[string]*listener{}}}
	t.Cleanup(func() {
		d.stops()
		d.network.ends(a)
		d.network.ends(b)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// starts has it scrape from now on, each target at once and then once in an interval.
func (d *database) starts(configuration string, targets ...model.LabelSet) {
	d.t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	parsed, err := config.Load(configuration, quiet)
	if err != nil {
		d.t.Fatal(err)
	}
	options := &scrape.Options{
		DiscoveryReloadInterval: model.Duration(time.Second), DiscoveryReloadOnStartup: true,
		HTTPClientOptions: []configutil.HTTPClientOption{configutil.WithDialContextFunc(d.network.dial)},
	}
	// Otherwise it looks the machine's name up, which cannot be done in a bubble, and scrapes at a time that depends on that.
	*(*bool)(unsafe.Pointer(reflect.ValueOf(options).Elem().FieldByName("skipJitterOffsetting").UnsafeAddr())) = true
	d.scraper, err = scrape.NewManager(options, quiet, nil, nil, d.db, prometheus.NewRegistry())
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.scraper.ApplyConfig(parsed); err != nil {
		d.t.Fatal(err)
	}
	d.targets = make(chan map[string][]*targetgroup.Group)
	go func() { _ = d.scraper.Run(d.targets) }()
	d.discovers(targets...)
}

// discovers has it scrape these from now on.
func (d *database) discovers(targets ...model.LabelSet) {
	d.targets <- map[string][]*targetgroup.Group{job: {{Source: "here", Targets: targets}}}
}

// stops has it scrape no more, as when it ends.
func (d *database) stops() {
	if d.scraper != nil {
		d.scraper.Stop()
		d.scraper = nil
	}
}

// api serves Prometheus' API over the database, and what else it reads from, until done is called.
func (d *database) api(more ...storage.Storage) (url string, done func()) {
	none := slog.New(slog.DiscardHandler)
	engine := promql.NewEngine(promql.EngineOpts{
		Logger: none, MaxSamples: 50_000_000, Timeout: 2 * time.Minute, LookbackDelta: lookback,
		EnableAtModifier: true, EnableNegativeOffset: true,
	})
	read := storage.NewFanout(none, d.db, more...)
	v1 := promapi.NewAPI(engine, read, nil, nil, nil, nil, nil, nil, func() config.Config { return config.Config{} }, nil,
		promapi.GlobalURLOptions{}, func(f http.HandlerFunc) http.HandlerFunc { return f }, nil, "", false, false, 0, none, nil, 0, 0, 0, false,
		regexp.MustCompile(".*"), nil, nil, nil, nil, prometheus.NewRegistry(), prometheus.NewRegistry(), nil, false, nil, false, false, false,
		false, lookback, false, false, nil, nil, promapi.OpenAPIOptions{}, nil)
	router := route.New().WithPrefix("/api/v1")
	v1.Register(router)
	return listens(router)
}

// listens serves a handler until done is called.
func listens(handler http.Handler) (url string, done func()) {
	server := httptest.NewUnstartedServer(handler)
	server.Config.SetKeepAlivesEnabled(false) // a connection that idles would outlive the bubble
	server.Start()
	return server.URL, server.Close
}

// dead is a store that cannot be reached, which others read from.
type dead struct{ storage.Storage }

func (dead) Querier(int64, int64) (storage.Querier, error) {
	return deadQuerier{storage.NoopQuerier()}, nil
}

type deadQuerier struct{ storage.Querier }

func (deadQuerier) Select(context.Context, bool, *storage.SelectHints, ...*labels.Matcher) storage.SeriesSet {
	return storage.ErrSeriesSet(errors.New("remote_read: connection refused"))
}

// network connects addresses to handlers in this process, as time stands still while something waits for a real one.
type network struct {
	mu        sync.Mutex
	listening map[string]*listener
}

// serves has a handler listen at an address, in place of what did before.
func (n *network) serves(address string, handler http.Handler) {
	n.ends(address)
	l := &listener{address: address, dialed: make(chan net.Conn), closed: make(chan struct{}), ended: make(chan struct{}),
		server: &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}}
	n.mu.Lock()
	n.listening[address] = l
	n.mu.Unlock()
	go func() {
		defer close(l.ended)
		_ = l.server.Serve(l)
	}()
}

// ends has nothing listen at an address.
func (n *network) ends(address string) {
	n.mu.Lock()
	l := n.listening[address]
	delete(n.listening, address)
	n.mu.Unlock()
	if l != nil {
		_ = l.server.Close()
		<-l.ended
	}
}

func (n *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listening[address]
	n.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("%s: connection refused", address)
	}
	ours, theirs := net.Pipe()
	select {
	case l.dialed <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, fmt.Errorf("%s: connection reset", address)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type listener struct {
	address string
	dialed  chan net.Conn
	once    sync.Once
	closed  chan struct{}
	server  *http.Server
	ended   chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialed:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr  { return l }
func (l *listener) Network() string { return "pipe" }
func (l *listener) String() string  { return l.address }

// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/grants"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

const (
	// timeout bounds each request.
	timeout = 20 * time.Second
	// visitTimeout bounds all requests to a member.
	visitTimeout = time.Minute
	// atOnce bounds how many requests to a cluster are under way, and visitsAtOnce how many members are asked.
	atOnce       = 16
	visitsAtOnce = 8
	// page is how many objects a list has in one answer.
	page = 500
)

// gatherer reads one cluster with the rights of the person.
type gatherer struct {
	config   *rest.Config
	typed    kubernetes.Interface
	metadata metadata.Interface
	clock    *serverClock
	slots    chan struct{}
}

func newGatherer(config *rest.Config) (*gatherer, error) {
	g := &gatherer{config: rest.CopyConfig(config), clock: &serverClock{}, slots: make(chan struct{}, atOnce)}
	g.config.Timeout, g.config.QPS = timeout, -1 // atOnce bounds them
	g.config.WarningHandler, g.config.WarningHandlerWithContext = rest.NoWarnings{}, nil
	g.config.Wrap(g.clock.wrap)
	var err error
	if g.typed, err = kubernetes.NewForConfig(g.config); err != nil {
		return nil, fmt.Errorf("preparing to reach the cluster: %w", err)
	}
	if g.metadata, err = metadata.NewForConfig(g.config); err != nil {
		return nil, fmt.Errorf("preparing to reach the cluster: %w", err)
	}
	return g, nil
}

// Gather reads the hub, and the members for which there is a context. It is an error if the hub does not answer at all. say is told what is
// under way.
func Gather(ctx context.Context, hub *rest.Config, s Settings, members func(context string) (*rest.Config, error),
	say func(string)) (*Picture, error) {
	g, err := newGatherer(hub)
	if err != nil {
		return nil, err
	}
	say("asking the hub")
	if err := g.typed.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Error(); err != nil {
		return nil, fmt.Errorf("asking the hub at %s: %w", hub.Host, err)
	}
	p := &Picture{Settings: s, Now: g.clock.now()}
	g.all(ctx, slices.Concat(g.ofHub(p), g.ofAPIs(p), g.ofMembers(p), g.ofAutoscalers(p)), say)
	p.Visited = visits(ctx, s, members, say)
	return p, context.Cause(ctx)
}

// visits asks the members for which there is a context, some at a time. What they say is by name.
func visits(ctx context.Context, s Settings, members func(context string) (*rest.Config, error), say func(string)) []Visit {
	clusters := slices.Sorted(maps.Keys(s.Contexts))
	all := make([]Visit, len(clusters))
	slots := make(chan struct{}, visitsAtOnce)
	var under sync.WaitGroup
	for i, cluster := range clusters {
		slots <- struct{}{}
		say("asking " + cluster)
		config, err := members(s.Contexts[cluster])
		under.Go(func() {
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(ctx, visitTimeout)
			defer cancel()
			all[i] = visit(ctx, cluster, s.Scope, config, err)
		})
	}
	under.Wait()
	return all
}

// reading fills one part of a picture.
type reading struct {
	what string
	do   func(context.Context)
}

// all makes the readings, some at a time.
func (g *gatherer) all(ctx context.Context, readings []reading, say func(string)) {
	var under sync.WaitGroup
	var mu sync.Mutex
	left := len(readings)
	for _, r := range readings {
		under.Go(func() {
			r.do(ctx)
			mu.Lock()
			defer mu.Unlock()
			left--
			say(fmt.Sprintf("asked for %s, %d of %d to come", r.what, left, len(readings)))
		})
	}
	under.Wait()
}

// slot waits until one more request may be under way.
func (g *gatherer) slot(ctx context.Context) (release func(), err error) {
	select {
	case g.slots <- struct{}{}:
		return func() { <-g.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask makes one request. needs is the right that it takes, as in "list leases in fleetscale-system".
func ask[T any](ctx context.Context, g *gatherer, needs string, request func(context.Context) (T, error)) Read[T] {
	release, err := g.slot(ctx)
	if err != nil {
		return Read[T]{Unknown: err.Error()}
	}
	defer release()
	value, err := request(ctx)
	switch {
	case err == nil:
		return Read[T]{Value: value}
	case apierrors.IsForbidden(err):
		return Read[T]{Unknown: "needs " + needs}
	default:
		return Read[T]{Unknown: needs + ": " + plugin.Said(err)}
	}
}

// visit asks a member itself; err is why nobody knows how.
func visit(ctx context.Context, cluster string, scope []string, config *rest.Config, err error) Visit {
	v := Visit{Cluster: cluster}
	unknown := func(err error) Visit {
		v.Managed.Unknown = fmt.Sprintf("--member-context %s: %s", cluster, plugin.Said(err))
		v.Denied.Unknown = v.Managed.Unknown
		return v
	}
	if err != nil {
		return unknown(err)
	}
	g, err := newGatherer(config)
	if err != nil {
		return unknown(err)
	}
	v.Managed = g.managed(ctx)
	v.Denied = g.denied(ctx, ourIdentities(), memberNamespace, func(of program) ([]grants.Right, error) {
		return grants.InMember(of.account, scope)
	})
	for _, part := range []*string{&v.Managed.Unknown, &v.Denied.Unknown} {
		if *part != "" {
			*part = cluster + ": " + *part
		}
	}
	return v
}

// serverClock knows the time of the server that answers.
type serverClock struct {
	mu    sync.Mutex
	ahead time.Duration // its time minus ours
}

func (c *serverClock) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if err == nil {
			if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
				c.mu.Lock()
				c.ahead = time.Until(at)
				c.mu.Unlock()
			}
		}
		return answer, err
	})
}

// now is the server's time, to a second, or ours before it has answered.
func (c *serverClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

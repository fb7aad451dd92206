// SPDX-License-Identifier: Apache-2.0

package served

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/openapi"
	"k8s.io/klog/v2"
)

// soon is the longest pause while the schema is not ours: an API server that
// has just started publishes its kinds some seconds late, and whoever repairs
// the schema waits for the effect.
const soon = 5 * time.Second

// Options say what is checked, and how often.
type Options struct {
	// Hub is where the documents come from. A discovery client has one.
	Hub openapi.ClientWithContext
	// Period is the interval of checks, above 0. As long as nothing changes
	// a check costs one small response of the hub.
	Period time.Duration
	// Timeout bounds one check, above 0.
	Timeout time.Duration
	Metrics *Metrics
}

// Checker knows whether the hub serves our schema. It holds from the beginning
// until the hub has shown that it does.
type Checker struct {
	options Options
	url     string // of the document that was judged last; it changes with its content
	silent  bool   // the hub could not be asked the last time

	mu  sync.Mutex
	err error
}

// New returns a checker that knows nothing until it runs.
func New(o Options) *Checker {
	return &Checker{options: o, err: fmt.Errorf("waiting for the hub's schema of %s", groupVersion)}
}

// Err is nil while the hub serves our schema. Otherwise it says what is missing
// and what to do. A hub that cannot be asked leaves the last finding as it is.
func (c *Checker) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Hold reports whether all objects must be left unchanged: an object with
// dropped fields is not what its owner wrote. It is true where Err is not
// nil.
func (c *Checker) Hold() bool { return c.Err() != nil }

// Run checks at once, and then periodically until ctx ends. Every replica
// runs it, the leader or not. It must be called once.
func (c *Checker) Run(ctx context.Context) {
	for ctx.Err() == nil {
		c.check(ctx)
		pause := c.options.Period
		if c.Hold() {
			pause = min(pause, soon)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (c *Checker) check(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	url, faults, err := c.ask(limited)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		c.admit(ctx, fmt.Errorf("reading the hub's schema of %s: %w", groupVersion, err))
	default:
		c.silent = false
		if url != c.url {
			c.url = url
			c.judge(ctx, faults)
		}
	}
}

// ask returns the document's URL and what is wrong with it, by kind. What was
// judged before is not read again.
func (c *Checker) ask(ctx context.Context) (url string, faults map[string]error, err error) {
	found, served, err := document(ctx, c.options.Hub)
	if err != nil {
		return "", nil, err
	}
	if !served {
		return notServed, faultsOf(nil), nil
	}
	if url = found.ServerRelativeURL(); url == c.url {
		return url, nil, nil
	}
	faults, err = faultsIn(ctx, found)
	return url, faults, err
}

// admit says once that the hub cannot be asked. That is no finding.
func (c *Checker) admit(ctx context.Context, err error) {
	if !c.silent {
		klog.FromContext(ctx).Info("Could not read the hub's schema of autoscaling.karmada.io/v1alpha1", "reason", err.Error())
	}
	c.silent = true
	if c.url == "" {
		c.set(err)
	}
}

// judge raises the alarm once for each change.
func (c *Checker) judge(ctx context.Context, faults map[string]error) {
	for _, k := range kinds() {
		c.options.Metrics.Set(k.name, faults[k.name] == nil)
	}
	before, now := c.Err(), asOne(faults)
	c.set(now)
	logger := klog.FromContext(ctx)
	switch {
	case now != nil && (before == nil || before.Error() != now.Error()):
		logger.Error(now, "Hub does not serve our schema of autoscaling.karmada.io/v1alpha1, so nothing is reconciled")
	case now == nil && before != nil:
		logger.Info("Hub serves our schema of autoscaling.karmada.io/v1alpha1")
	}
}

func (c *Checker) set(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

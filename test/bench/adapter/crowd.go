// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/stage"
)

// pace is that of a controller of HorizontalPodAutoscalers.
const pace = 15 * time.Second

// crowd is autoscalers that ask for the cpu of Pods, each at its pace.
type crowd struct {
	server *stage.Server
	// apart means that each asks for a namespace of its own.
	apart bool

	asking  sync.WaitGroup
	n       int
	mu      sync.Mutex
	answers answers
}

// answers are those that came since they were last taken.
type answers struct {
	whole   int
	refused refusals
}

func crowdNamespace(i int, apart bool) string {
	if apart {
		return fmt.Sprintf("apart-%d", i)
	}
	return "together"
}

// grow has so many ask in all, until ctx ends. The new ones begin some time within the given one.
func (c *crowd) grow(ctx context.Context, n int, within time.Duration) {
	for ; c.n < n; c.n++ {
		namespace := crowdNamespace(c.n, c.apart)
		c.asking.Go(func() {
			for wait := rand.N(within); measure.Pass(ctx, wait) == nil; wait = pace {
				c.askOnce(ctx, namespace)
			}
		})
	}
}

func (c *crowd) askOnce(ctx context.Context, namespace string) {
	url := c.server.Pods(namespace) + "?labelSelector=app%3Dweb"
	q := measure.Question{URL: func(int) string { return url }, Accept: stage.Protobuf}
	result := measure.Ask(ctx, c.server.Client, q, measure.Load{Clients: 1})
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers.add(answers{len(result.Latencies), result.Refused})
}

func (c *crowd) take() answers {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.answers
	c.answers = answers{}
	return taken
}

func (a *answers) add(b answers) {
	if a.refused == nil {
		a.refused = refusals{}
	}
	a.whole += b.whole
	a.refused.add(b.refused)
}

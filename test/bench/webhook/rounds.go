// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/stage"
)

func (b *bench) measure(ctx context.Context) error {
	all, err := reviews()
	if err != nil {
		return err
	}
	for round := range b.Rounds {
		fmt.Fprintf(b.log, "Writes of autoscalers, round %d of %d ...\n", round+1, b.Rounds)
		turns := inTurns(b.sides, round)
		for _, clients := range b.Clients {
			if err := b.round(ctx, turns, clients, all); err != nil {
				return err
			}
		}
		for _, s := range turns {
			if err := b.keep(ctx, cell{creation, s.name, b.Clients[len(b.Clients)-1]}, s, b.hub.Client, b.creations(s)); err != nil {
				return err
			}
		}
		if err := b.sampleMemory(); err != nil {
			return err
		}
	}
	return nil
}

// inTurns has another side begin in each round.
func inTurns(sides []*side, round int) []*side {
	first := round % len(sides)
	return slices.Concat(sides[first:], sides[:first])
}

// round measures all sides one after the other, through the hub, and the
// webhooks alone.
func (b *bench) round(ctx context.Context, turns []*side, clients int, all []review) error {
	for _, s := range turns {
		if err := b.keep(ctx, cell{dryRun, s.name, clients}, s, b.hub.Client, b.dry(s)); err != nil {
			return err
		}
	}
	for _, s := range turns {
		if s.webhook == nil {
			continue
		}
		if err := b.keep(ctx, cell{direct, s.name, clients}, s, s.webhook.Client(clients), alone(s, all)); err != nil {
			return err
		}
	}
	return nil
}

// dry are writes that store nothing.
func (b *bench) dry(s *side) measure.Question {
	return measure.Question{
		URL: func(n int) string { return b.hub.URL + writes(n).path(s.namespace) + "?dryRun=All" },
		Body: func(n int) (method string, body []byte) {
			w, version := writes(n), ""
			if w.update {
				version = s.versions[w.resource]
			}
			return w.method(), w.object(s.namespace, "new", version)
		},
		Accept: stage.JSON,
		Judge:  func(n, code int, body []byte) error { return s.judge(writes(n), code, body) },
	}
}

// creations are stored, each under a name of its own.
func (b *bench) creations(s *side) measure.Question {
	b.series++
	const name = "new-%d-%d"
	return measure.Question{
		URL: func(n int) string { return b.hub.URL + creations(n).path(s.namespace) },
		Body: func(n int) (method string, body []byte) {
			w := creations(n)
			return w.method(), w.object(s.namespace, fmt.Sprintf(name, b.series, n), "")
		},
		Accept: stage.JSON,
		Judge:  func(n, code int, body []byte) error { return s.judge(creations(n), code, body) },
	}
}

// alone are questions that the hub would ask.
func alone(s *side, all []review) measure.Question {
	at := func(n int) review { return all[n%len(all)] }
	return measure.Question{
		URL:    func(n int) string { return s.webhook.URL + at(n).path },
		Body:   func(n int) (method string, body []byte) { return http.MethodPost, at(n).body },
		Accept: stage.JSON,
		Judge: func(n, code int, body []byte) error {
			if s.name == ours {
				return at(n).judged(code, body)
			}
			return at(n).allowed(code, body)
		},
	}
}

// keep measures a cell once more.
func (b *bench) keep(ctx context.Context, c cell, s *side, client http.RoundTripper, q measure.Question) error {
	var before, after time.Duration
	var err error
	if s.webhook != nil {
		if before, err = s.webhook.PID.CPU(); err != nil {
			return err
		}
	}
	cost, err := b.hub.PID.Costs(ctx, client, q, measure.Load{Clients: c.clients, For: b.For}, b.idle[b.hub.PID])
	if err != nil {
		return err
	}
	if s.webhook != nil {
		if after, err = s.webhook.PID.CPU(); err != nil {
			return err
		}
	}
	for _, n := range cost.Refused {
		b.wrong += n
	}
	if b.complaint == "" {
		b.complaint = cost.Complaint
	}
	if c.what == creation {
		b.stored += len(cost.Latencies)
	}
	kept := b.at(c)
	kept.p50 = append(kept.p50, cost.Latencies.Quantile(0.5))
	kept.p99 = append(kept.p99, cost.Latencies.Quantile(0.99))
	kept.perSecond = append(kept.perSecond, cost.PerSecond())
	if c.what != direct {
		kept.hubCPU = append(kept.hubCPU, cost.CPU)
	}
	if s.webhook != nil {
		used := float64(after-before) - b.idle[s.webhook.PID]*float64(cost.Took)
		kept.webhookCPU = append(kept.webhookCPU, max(0, used)/float64(time.Millisecond)/float64(len(cost.Latencies)))
	}
	return nil
}

func (b *bench) at(c cell) *figures {
	if b.cells[c] == nil {
		b.cells[c] = &figures{}
	}
	return b.cells[c]
}

// sampleMemory samples the memory of the webhooks.
func (b *bench) sampleMemory() error {
	for _, s := range b.sides {
		if s.webhook == nil {
			continue
		}
		m, err := s.webhook.PID.Memory()
		if err != nil {
			return err
		}
		b.resident[s.name] = float64(m.Resident) / (1 << 20)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fleetscale/fleetscale/test/bench/encoder"
	"github.com/fleetscale/fleetscale/test/bench/experiment"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
)

// Target measures lists of namespaces at any server of metrics.k8s.io, with
// what there is, beside the encoder alone. CPU is told if the server's process is known.
func Target(ctx context.Context, server *stage.Server, namespaces []string, size experiment.Size, log io.Writer) (report.Section, error) {
	return listsOf(ctx, server, namespaces, experiment.Of(size, quick(), full()), log)
}

func listsOf(ctx context.Context, server *stage.Server, namespaces []string, p plan, log io.Writer) (section report.Section, err error) {
	t := &target{server: server, plan: p}
	if server.PID > 0 {
		if t.idle, err = server.PID.Idle(ctx, p.Settle); err != nil {
			return section, err
		}
	}
	if t.encoder, err = encoder.Start(ctx); err != nil {
		return section, err
	}
	defer func() { err = errors.Join(err, t.encoder.Stop()) }()
	section = report.Section{
		Name: "target", Title: "Lists of PodMetrics from " + server.URL,
		Text: []string{"Each client asks again as soon as it was answered. *Encoder* is the time that Kubernetes' encoder alone takes for " +
			"the same list. Shown are medians of rounds, and the least and the greatest."},
		Tables: []report.Table{{Header: []string{"namespace", "Pods", "format", "clients", "p50, ms", "p99, ms", "answers per second", "CPU, ms",
			"encoder, ms", "p50 / encoder", "CPU / encoder", "KiB"}}},
		Figures: map[string][]float64{},
	}
	for _, namespace := range namespaces {
		fmt.Fprintf(log, "Lists of namespace %s ...\n", namespace)
		list, pods, _, err := server.Fetch(ctx, namespace)
		if err != nil {
			return section, fmt.Errorf("asking for namespace %s: %w", namespace, err)
		}
		for _, format := range formats {
			for _, clients := range p.Clients {
				kept, alone, err := t.rounds(ctx, namespace, format.media, clients, list)
				if err != nil {
					return section, err
				}
				section.Tables[0].Rows = append(section.Tables[0].Rows, []string{
					namespace, fmt.Sprint(pods), format.name, fmt.Sprint(clients), kept.p50.String(), kept.p99.String(), kept.perSecond.String(),
					kept.cpu.String(), alone.String(), kept.p50.Over(alone).String(), kept.cpu.Over(alone).String(), kept.bytes.Per(kib).String(),
				})
				section.Figures[fmt.Sprintf("%s/%s/clients=%d/p50_ms", namespace, format.name, clients)] = kept.p50
			}
		}
	}
	return section, nil
}

// target is a server that others run.
type target struct {
	server  *stage.Server
	plan    plan
	idle    float64
	encoder *encoder.Process
}

func (t *target) rounds(ctx context.Context, namespace, media string, clients int, list []byte) (kept listing, alone measure.Samples,
	err error) {
	url := t.server.Pods(namespace)
	q := measure.Question{URL: func(int) string { return url }, Accept: media}
	for range t.plan.Rounds {
		cost, err := t.encoder.Do(encoder.Order{List: list, Media: media, For: t.plan.For})
		if err != nil {
			return kept, nil, err
		}
		alone = append(alone, cost.CPU)
		result, err := t.ask(ctx, q, measure.Load{Clients: clients, For: t.plan.For}, &kept)
		if err != nil {
			return kept, nil, err
		}
		kept.p50, kept.p99 = append(kept.p50, result.Latencies.Quantile(0.5)), append(kept.p99, result.Latencies.Quantile(0.99))
		kept.perSecond, kept.bytes = append(kept.perSecond, result.PerSecond()), append(kept.bytes, float64(result.Bytes))
	}
	return kept, alone, nil
}

func (t *target) ask(ctx context.Context, q measure.Question, l measure.Load, kept *listing) (measure.Result, error) {
	if t.server.PID > 0 {
		cost, err := t.server.PID.Costs(ctx, t.server.Client, q, l, t.idle)
		kept.cpu = append(kept.cpu, cost.CPU)
		return cost.Result, err
	}
	result := measure.Ask(ctx, t.server.Client, q, l)
	if len(result.Latencies) == 0 {
		return result, fmt.Errorf("asking %s: no whole answer; one said: %s", q.URL(0), result.Complaint)
	}
	return result, nil
}

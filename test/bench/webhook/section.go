// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"

	"github.com/fleetscale/fleetscale/pkg/chart"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
)

func (b *bench) section() report.Section {
	s := report.Section{
		Name:  "webhook",
		Title: "Admission of autoscalers",
		Text: []string{
			"FederatedHPAs and CronFederatedHPAs are created and updated on a real hub, dry-run, so that nothing is stored; one in ten is faulty " +
				"in a way that only the webhook knows. " +
				"The hub asks the webhook of this checkout about one namespace as deploy/ says, first to complete and then to judge each write. " +
				"About another it asks, by the same conditions, an *empty webhook*, which reads the name of each request and allows it: what any " +
				"webhook costs; as it completes nothing, the hub has no patch to apply. About a third it asks nobody (*schema alone*). " +
				"All three are measured in turns, and ratios are of the same round. Shown are medians, and the least and the greatest.",
			"CPU is that of the hub's API server and of the webhook, for one write, less what they use when nothing is written.",
			fmt.Sprintf("In the end, with %d autoscalers stored, the webhook occupies %.0f MiB, and the empty one %.0f MiB.", b.stored,
				b.resident[ours], b.resident[emptyOne]),
		},
		Reaches: b.reaches(),
		Tables: []report.Table{
			b.writeTable("Writes through the hub, dry-run", dryRun, b.Clients),
			b.writeTable("Creations that are stored", creation, b.Clients[len(b.Clients)-1:]),
			b.reviewTable(),
		},
		Plots: []report.Plot{b.plot("p50 of dry-run writes", func(f *figures) measure.Samples { return f.p50 }),
			b.plot("p99 of dry-run writes", func(f *figures) measure.Samples { return f.p99 })},
		Figures: map[string][]float64{"resident_mib/" + ours: {b.resident[ours]}, "resident_mib/" + emptyOne: {b.resident[emptyOne]},
			"wrong": {float64(b.wrong)}},
	}
	for c, kept := range b.cells {
		for name, samples := range map[string]measure.Samples{
			"p50_ms": kept.p50, "p99_ms": kept.p99, "per_second": kept.perSecond, "hub_cpu_ms": kept.hubCPU, "webhook_cpu_ms": kept.webhookCPU,
		} {
			if len(samples) > 0 {
				s.Figures[c.String()+"/"+name] = samples
			}
		}
	}
	return s
}

// reaches are judged by the figures of one client: more than that wait for each
// other, and not for the webhook.
func (b *bench) reaches() []report.Reach {
	const goal = 1.25
	one := b.Clients[0]
	mine, peer := b.at(cell{dryRun, ours, one}), b.at(cell{dryRun, emptyOne, one})
	ratio := mine.p50.Over(peer.p50)
	slower := report.Reach{
		What: "time of a write through the hub, p50, over that with an empty webhook", Goal: fmt.Sprintf("at most %v", goal),
		Measured: fmt.Sprintf("%s; p99: %s", ratio, mine.p99.Over(peer.p99)), Met: ratio.Median() <= goal,
	}
	if !slower.Met {
		slower.Why = fmt.Sprintf("a write takes %s ms instead of %s ms, and our webhook %s ms of CPU for it", mine.p50, peer.p50, mine.webhookCPU)
	}
	return []report.Reach{
		{What: "wrong answers: admitted but faulty, refused but valid, or without defaults", Goal: "0", Measured: fmt.Sprint(b.wrong),
			Met: b.wrong == 0, Why: b.complaint},
		slower,
	}
}

func (b *bench) writeTable(title, what string, clients []int) report.Table {
	t := report.Table{Title: title, Header: []string{
		"clients", "hub with", "writes per second", "p50, ms", "p99, ms", "p50 / empty", "p99 / empty", "p50 added to empty, ms",
		"p99 added to empty, ms", "CPU of the hub, ms", "CPU of the webhook, ms",
	}}
	for _, n := range clients {
		peer := b.at(cell{what, emptyOne, n})
		for _, name := range []string{schemaOnly, emptyOne, ours} {
			f := b.at(cell{what, name, n})
			t.Rows = append(t.Rows, []string{
				fmt.Sprint(n), name, f.perSecond.String(), f.p50.String(), f.p99.String(), f.p50.Over(peer.p50).String(), f.p99.Over(peer.p99).String(),
				f.p50.Less(peer.p50).String(), f.p99.Less(peer.p99).String(), f.hubCPU.String(), f.webhookCPU.String(),
			})
		}
	}
	return t
}

func (b *bench) reviewTable() report.Table {
	t := report.Table{Title: "Webhooks alone, asked as the hub does, which asks twice about a write", Header: []string{
		"clients", "server", "admissions per second", "p50, ms", "p99, ms", "CPU of one, ms", "CPU / empty",
	}}
	for _, n := range b.Clients {
		peer := b.at(cell{direct, emptyOne, n})
		for _, name := range []string{emptyOne, ours} {
			f := b.at(cell{direct, name, n})
			t.Rows = append(t.Rows, []string{fmt.Sprint(n), name, f.perSecond.String(), f.p50.String(), f.p99.String(), f.webhookCPU.String(),
				f.webhookCPU.Over(peer.webhookCPU).String()})
		}
	}
	return t
}

func (b *bench) plot(title string, of func(*figures) measure.Samples) report.Plot {
	plot := report.Plot{Plot: chart.Plot{Title: title, X: "clients", Y: "milliseconds"}}
	for _, name := range []string{schemaOnly, emptyOne, ours} {
		series := chart.Series{Name: name}
		for _, n := range b.Clients {
			series.Points = append(series.Points, of(b.at(cell{dryRun, name, n})).Point(float64(n)))
		}
		plot.Series = append(plot.Series, series)
	}
	return plot
}

// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"fmt"

	"github.com/fleetscale/fleetscale/pkg/chart"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
)

func (l *lister) section() report.Section {
	s := report.Section{
		Name:  "list",
		Title: "Lists of PodMetrics",
		Text: []string{
			"The adapter is asked at its own port for the Pods of a namespace, again as soon as it has answered. CPU is that of its process, " +
				"less what it uses when nobody asks; " +
				"so it holds all that an answer costs: authentication, authorization, selection, encoding, compression, TLS, garbage collection.",
			"*Encoder* is Kubernetes' encoder alone, in a process of its own, on the same list: the least for a server that encodes each answer " +
				"again. " +
				"*metrics-server* is the real one, asked in the same way, over one cluster with as many Pods. " +
				"*No list* is the adapter when it is asked which kinds it serves: a small answer that passes all that a list does, so it is what " +
				"there is to pay before the first Pod: by a profile, a third of it verifies the certificate of who asks, for each request, and the " +
				"rest is HTTP/2, TLS, the runtime, and some 20 filters, none above 5 %. Ratios are of the same round. Shown are medians, and the " +
				"least and the greatest.",
		},
		Reaches: l.reaches(),
		Tables:  []report.Table{l.cpuTable(), l.latencyTable(), l.gzipTable()},
		Figures: map[string][]float64{},
	}
	for _, format := range formats {
		s.Plots = append(s.Plots, l.cpuPlot(format.name))
	}
	s.Plots = append(s.Plots, l.latencyPlot())
	for c, kept := range l.cells {
		for name, samples := range kept.figures() {
			if len(samples) > 0 {
				s.Figures[c.String()+"/"+name] = samples
			}
		}
	}
	return s
}

// single is the cell of one client that wants no compression.
func (l *lister) single(server string, members, pods int, format string) *listing {
	c := cell{server, members, pods, format, false, l.Clients[0]}
	switch server {
	case encoderAlone:
		c.clients = 0
	case metricsServer:
		c.members = 0
	}
	return l.at(c)
}

func (l *lister) cpuTable() report.Table {
	t := report.Table{
		Title: fmt.Sprintf("CPU of one answer in milliseconds, %d client, without compression", l.Clients[0]),
		Header: []string{"Pods", "format", "members", "encoder", "metrics-server", "adapter", "adapter / encoder", "adapter / metrics-server",
			"no list", "(adapter - no list) / encoder", "allocated, KiB", "answer, KiB"},
	}
	for _, pods := range l.Pods {
		for _, format := range formats {
			for _, members := range l.Members {
				adapter, alone := l.single(ours, members, pods, format.name), l.single(encoderAlone, members, pods, format.name)
				peer, without := l.single(metricsServer, 0, pods, format.name), l.single(noList, members, pods, format.name)
				t.Rows = append(t.Rows, []string{
					fmt.Sprint(pods), format.name, fmt.Sprint(members), alone.cpu.String(), peer.cpu.String(), adapter.cpu.String(),
					adapter.cpu.Over(alone.cpu).String(), l.overPeer(members, adapter, peer).String(),
					without.cpu.String(), adapter.cpu.Less(without.cpu).Over(alone.cpu).String(),
					adapter.allocated.Per(kib).String(), adapter.bytes.Per(kib).String(),
				})
			}
		}
	}
	return t
}

// overPeer compares with the metrics-server, which was measured beside the first number of members only.
func (l *lister) overPeer(members int, adapter, peer *listing) measure.Samples {
	if members != l.Members[0] {
		return nil
	}
	return adapter.cpu.Over(peer.cpu)
}

func (l *lister) latencyTable() report.Table {
	t := report.Table{
		Title:  "Latency in milliseconds, without compression",
		Header: []string{"Pods", "format", "clients", "server", "p50", "p90", "p99", "answers per second"},
	}
	for _, pods := range l.Pods {
		for _, format := range formats {
			for _, clients := range l.Clients {
				for _, members := range append([]int{0}, l.Members...) {
					c, name := cell{ours, members, pods, format.name, false, clients}, fmt.Sprintf("adapter, %d members", members)
					if members == 0 {
						c.server, name = metricsServer, metricsServer
					}
					kept := l.at(c)
					t.Rows = append(t.Rows, []string{
						fmt.Sprint(pods), format.name, fmt.Sprint(clients), name, kept.p50.String(), kept.p90.String(), kept.p99.String(),
						kept.perSecond.String(),
					})
				}
			}
		}
	}
	return t
}

func (l *lister) gzipTable() report.Table {
	t := report.Table{
		Title:  fmt.Sprintf("What compression costs: %d client, %d members", l.Clients[0], l.Members[0]),
		Header: []string{"Pods", "format", "server", "KiB plain", "KiB gzip", "CPU plain, ms", "CPU gzip, ms", "gzip / plain"},
	}
	for _, pods := range l.Pods {
		for _, format := range formats {
			for _, c := range []cell{{ours, l.Members[0], pods, format.name, false, l.Clients[0]},
				{metricsServer, 0, pods, format.name, false, l.Clients[0]}} {
				plain := l.at(c)
				c.gzip = true
				zipped := l.at(c)
				t.Rows = append(t.Rows, []string{
					fmt.Sprint(pods), format.name, c.server, plain.bytes.Per(kib).String(), zipped.bytes.Per(kib).String(),
					plain.cpu.String(), zipped.cpu.String(), zipped.cpu.Over(plain.cpu).String(),
				})
			}
		}
	}
	return t
}

func (l *lister) cpuPlot(format string) report.Plot {
	plot := report.Plot{Plot: chart.Plot{Title: "CPU of one answer, " + format, X: "Pods", Y: "milliseconds"}, Peers: true}
	cpu := func(server string, members int) (points []chart.Point) {
		for _, pods := range l.Pods {
			points = append(points, l.single(server, members, pods, format).cpu.Point(float64(pods)))
		}
		return points
	}
	plot.Series = append(plot.Series,
		chart.Series{Name: "encoder alone", Points: cpu(encoderAlone, l.Members[0])},
		chart.Series{Name: metricsServer, Points: cpu(metricsServer, 0)})
	for _, members := range l.Members {
		plot.Series = append(plot.Series, chart.Series{Name: fmt.Sprintf("adapter, %d members", members), Points: cpu(ours, members)})
	}
	return plot
}

func (l *lister) latencyPlot() report.Plot {
	pods := l.Pods[len(l.Pods)/2]
	plot := report.Plot{Plot: chart.Plot{Title: fmt.Sprintf("p99 of lists of %d Pods, protobuf", pods), X: "clients",
		Y: "milliseconds"}, Peers: true}
	for _, members := range append([]int{0}, l.Members...) {
		s := chart.Series{Name: fmt.Sprintf("adapter, %d members", members)}
		c := cell{ours, members, pods, "protobuf", false, 0}
		if members == 0 {
			s.Name, c.server = metricsServer, metricsServer
		}
		for _, clients := range l.Clients {
			c.clients = clients
			s.Points = append(s.Points, l.at(c).p99.Point(float64(clients)))
		}
		plot.Series = append(plot.Series, s)
	}
	return plot
}

// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

const (
	customMembers = 10
	// distinct is how many different questions there are, where they differ.
	distinct = 100
	shop     = "shop"
	// longerThanKept is more than the 5 s for which the adapter keeps an answer.
	longerThanKept = 6 * time.Second
)

// customQuestion is one kind of question for a custom or external metric.
type customQuestion struct {
	name string
	path func(n int) string
}

func customQuestions() []customQuestion {
	const custom, external = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/" + shop, "/apis/external.metrics.k8s.io/v1beta1/namespaces/" + shop
	service := func(n int) string { return fmt.Sprintf("%s/services/%s/%s", custom, serviceName(n), podMetric) }
	return []customQuestion{
		{"one object, always the same", func(int) string { return service(0) }},
		{fmt.Sprintf("one object, %d in turn", distinct), func(n int) string { return service(n % distinct) }},
		{fmt.Sprintf("%d Pods by a selector", customMembers*podsOfEach), func(int) string { return custom + "/pods/*/" + podMetric + "?labelSelector=app%3Dweb" }},
		{"one series of an external metric", func(int) string { return external + "/queue?labelSelector=name%3Dmail" }},
	}
}

func serviceName(n int) string { return fmt.Sprintf("service-%d", n) }

func custom(ctx context.Context, s *stage.Stage, p plan, log io.Writer) (section report.Section, err error) {
	fmt.Fprintf(log, "Custom and external metrics of %d members ...\n", customMembers)
	fleet, err := s.Enlist(ctx, sim.Options{Members: customMembers})
	if err != nil {
		return section, err
	}
	defer func() { err = errors.Join(err, s.Dismiss(ctx, fleet)) }()
	if err := setFigures(fleet); err != nil {
		return section, err
	}
	server, err := s.Adapter(ctx)
	if err != nil {
		return section, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	clients := p.Clients[len(p.Clients)-1]
	section = report.Section{
		Name: "custom", Title: "Custom and external metrics",
		Text:    []string{fmt.Sprintf("%d clients ask the adapter without pause; it has %d members and its default options. Requests are those to one member, discovery included.", clients, customMembers)},
		Tables:  []report.Table{{Header: []string{"question", "answers per second", "p50, ms", "p99, ms", "CPU of an answer, ms", "requests per member and second", "answers per request to a member"}}},
		Figures: map[string][]float64{},
	}
	for _, q := range customQuestions() {
		row, figures, err := askCustom(ctx, server, fleet, q, p, clients)
		if err != nil {
			return section, err
		}
		section.Tables[0].Rows = append(section.Tables[0].Rows, row)
		section.Figures["per_second/"+q.name] = figures
	}
	return section, nil
}

func setFigures(fleet *sim.Fleet) error {
	for _, m := range fleet.Members() {
		for n := range distinct {
			m.SetFigure(sim.Figure{Namespace: shop, Resource: "services", Object: serviceName(n), Metric: podMetric, Value: resource.MustParse("42")})
		}
		m.SetSeries(sim.Series{Metric: "queue", Labels: map[string]string{"name": "mail"}, Value: resource.MustParse("30")})
	}
	return spread(fleet.Members(), shop, podsOfEach*len(fleet.Members()))
}

func askCustom(ctx context.Context, server *stage.Server, fleet *sim.Fleet, q customQuestion, p plan, clients int) (row []string, perSecond measure.Samples, err error) {
	question := measure.Question{URL: func(n int) string { return server.URL + q.path(n) }, Accept: stage.JSON}
	var p50, p99, cpu, requests, shared measure.Samples
	for range p.Rounds {
		before := fleet.Requests()
		cost, err := server.PID.Costs(ctx, server.Client, question, measure.Load{Clients: clients, For: max(p.For, longerThanKept)}, 0)
		if err != nil {
			return nil, nil, err
		}
		if len(cost.Refused) > 0 {
			return nil, nil, fmt.Errorf("asking for %s: refused: %v, such as %s", q.name, cost.Refused, cost.Complaint)
		}
		each := float64(fleet.Requests().Since(before).Total()) / customMembers
		perSecond = append(perSecond, cost.PerSecond())
		p50, p99 = append(p50, cost.Latencies.Quantile(0.5)), append(p99, cost.Latencies.Quantile(0.99))
		cpu = append(cpu, cost.CPU)
		requests = append(requests, each/cost.Took.Seconds())
		if each > 0 {
			shared = append(shared, float64(len(cost.Latencies))/each)
		}
	}
	return []string{q.name, perSecond.String(), p50.String(), p99.String(), cpu.String(), requests.String(), shared.String()}, perSecond, nil
}

// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
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
	// many is more than a member may be asked while an answer is kept, by default.
	many = 1000
	// kept is how long the adapter keeps an answer, by default.
	kept           = 5 * time.Second
	longerThanKept = kept + time.Second
	// memberQPS is how many requests a member gets in a second at most, by default.
	memberQPS = 50
	// questionsPerSecond is to be reached with default options.
	questionsPerSecond = 1000
	// asAutoscalers is what they accept, Kubernetes' and ours.
	asAutoscalers = stage.Protobuf + "," + stage.JSON
)

// customQuestion is one kind of question for a custom or external metric.
type customQuestion struct {
	name string
	path func(n int) string
	// limited are those that the adapter may not ask as fast as it could.
	limited bool
}

func customQuestions() []customQuestion {
	const custom, external = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/" + shop,
		"/apis/external.metrics.k8s.io/v1beta1/namespaces/" + shop
	service := func(n int) string { return fmt.Sprintf("%s/services/%s/%s", custom, serviceName(n), podMetric) }
	return []customQuestion{
		{name: "one object, always the same", path: func(int) string { return service(0) }},
		{name: fmt.Sprintf("one object, %d in turn", distinct), path: func(n int) string { return service(n % distinct) }},
		{name: fmt.Sprintf("%d Pods by a selector", customMembers*podsOfEach),
			path: func(int) string { return custom + "/pods/*/" + podMetric + "?labelSelector=app%3Dweb" }},
		{name: "one series of an external metric", path: func(int) string { return external + "/queue?labelSelector=name%3Dmail" }},
		{name: fmt.Sprintf("one object, %d in turn", many), path: func(n int) string { return service(n % many) }, limited: true},
	}
}

func serviceName(n int) string { return fmt.Sprintf("service-%d", n) }

// customFigures are those of one kind of question, a sample for each round.
type customFigures struct {
	perSecond, p50, p99, cpu, requests, shared measure.Samples
	// themselves are the answers per second of who asks all members.
	themselves measure.Samples
}

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
	peer, err := newThemselves(fleet)
	if err != nil {
		return section, err
	}
	server, err := s.Adapter(ctx)
	if err != nil {
		return section, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	c := &customer{plan: p, server: server, fleet: fleet, peer: peer, clients: p.Clients[len(p.Clients)-1]}
	var all []customFigures
	for _, q := range customQuestions() {
		f, err := c.ask(ctx, q)
		if err != nil {
			return section, err
		}
		all = append(all, f)
	}
	return customSection(c.clients, all), nil
}

func setFigures(fleet *sim.Fleet) error {
	for _, m := range fleet.Members() {
		for n := range many {
			m.SetFigure(sim.Figure{Namespace: shop, Resource: "services", Object: serviceName(n), Metric: podMetric,
				Value: resource.MustParse("42")})
		}
		m.SetSeries(sim.Series{Metric: "queue", Labels: map[string]string{"name": "mail"}, Value: resource.MustParse("30")})
	}
	return spread(fleet.Members(), shop, podsOfEach*len(fleet.Members()))
}

// customer asks the adapter and, in turns, the members themselves.
type customer struct {
	plan

	server  *stage.Server
	fleet   *sim.Fleet
	peer    http.RoundTripper
	clients int
}

func (c *customer) ask(ctx context.Context, q customQuestion) (f customFigures, err error) {
	for range c.CustomRounds {
		if err := c.askMembers(ctx, q, &f); err != nil {
			return f, err
		}
		if err := c.askAdapter(ctx, q, &f); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (c *customer) askAdapter(ctx context.Context, q customQuestion, f *customFigures) error {
	question := measure.Question{URL: func(n int) string { return c.server.URL + q.path(n) }, Accept: asAutoscalers}
	before := c.fleet.Requests()
	cost, err := c.server.PID.Costs(ctx, c.server.Client, question, measure.Load{Clients: c.clients, For: max(c.For, longerThanKept)}, 0)
	if err != nil {
		return err
	}
	if err := q.refused(cost.Result); err != nil {
		return err
	}
	each := float64(c.fleet.Requests().Since(before).Total()) / customMembers
	f.perSecond = append(f.perSecond, cost.PerSecond())
	f.p50, f.p99 = append(f.p50, cost.Latencies.Quantile(0.5)), append(f.p99, cost.Latencies.Quantile(0.99))
	f.cpu = append(f.cpu, cost.CPU)
	f.requests = append(f.requests, each/cost.Took.Seconds())
	if each > 0 {
		f.shared = append(f.shared, float64(len(cost.Latencies))/each)
	}
	return nil
}

func (c *customer) askMembers(ctx context.Context, q customQuestion, f *customFigures) error {
	question := measure.Question{URL: func(n int) string { return "https://members" + q.path(n) }, Accept: asAutoscalers}
	result := measure.Ask(ctx, c.peer, question, measure.Load{Clients: c.clients, For: c.For})
	f.themselves = append(f.themselves, result.PerSecond())
	return q.refused(result)
}

func (q customQuestion) refused(r measure.Result) error {
	if len(r.Refused) == 0 {
		return nil
	}
	return fmt.Errorf("asking for %s: refused: %s, such as %s", q.name, refusals(r.Refused), r.Complaint)
}

func customSection(clients int, all []customFigures) report.Section {
	s := report.Section{
		Name: "custom", Title: "Custom and external metrics",
		Text: []string{
			fmt.Sprintf("%d clients ask the adapter without pause; it has %d members and its default options. They want protobuf, as autoscalers "+
				"do. Requests are those to one member, discovery included.", clients, customMembers),
			fmt.Sprintf("Beside it, in turns: the same clients without an adapter, each of whose questions goes to all %d members at once; so a "+
				"member gets as many requests in a second as there are answers. "+
				"Members are simulated, and answer from memory; a real one asks its monitoring each time.", customMembers),
			fmt.Sprintf("An answer is kept for %d s (`--answer-ttl`), so a member gets each different question once in that time, and no more "+
				"than %d questions in a second (`--member-qps`). "+
				"So there can be %d different ones. Of more, as in the last row, each waits its turn; with so many, raise either.",
				int(kept/time.Second), memberQPS, memberQPS*int(kept/time.Second)),
		},
		Tables: []report.Table{{Header: []string{"question", "answers per second", "asking members themselves", "adapter / themselves", "p50, ms",
			"p99, ms", "CPU of an answer, ms",
			"requests per member and second", "answers per request to a member"}}},
		Figures: map[string][]float64{},
	}
	for i, q := range customQuestions() {
		f := all[i]
		s.Tables[0].Rows = append(s.Tables[0].Rows, []string{q.name, f.perSecond.String(), f.themselves.String(),
			f.perSecond.Over(f.themselves).String(),
			f.p50.String(), f.p99.String(), f.cpu.String(), f.requests.String(), f.shared.String()})
		s.Figures["per_second/"+q.name] = f.perSecond
		s.Figures["themselves/per_second/"+q.name] = f.themselves
		if !q.limited {
			s.Reaches = append(s.Reaches, because(atLeast("answers at default options: "+q.name, questionsPerSecond, "per second", f.perSecond),
				f.whySlow()))
		}
	}
	return s
}

// whySlow returns how many cores so many answers take.
func (f customFigures) whySlow() string {
	const milliseconds = 1000
	return fmt.Sprintf("%d answers of %s ms of CPU take %s cores; there are %d, which the clients and the members use too",
		questionsPerSecond, f.cpu, f.cpu.Per(milliseconds/float64(questionsPerSecond)), runtime.NumCPU())
}

// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/test/bench/faults/truth"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/stage"
)

// kind is what answers are counted by.
type kind string

const (
	// lists of PodMetrics, at the adapters and through the front.
	lists kind = "lists"
	// hubLists are those through the hub's aggregation.
	hubLists kind = "lists through the hub"
	// coldLists are those of namespaces that nobody asked for before the fault.
	coldLists kind = "first lists"
	// figures are custom and external metrics.
	figures kind = "custom and external metrics"
)

// question is one of a client's.
type question struct {
	path, accept string
	judge        func(truth.Answer) truth.Judgement
}

// client asks its questions in turn.
type client struct {
	name      string
	kind      kind
	url       string
	transport http.RoundTripper
	question  func(n int) question
	// may reports whether it may ask now; nil: always.
	may func() bool
}

// patience is more than any answer should take.
const patience = 30 * time.Second

func (c client) ask(ctx context.Context, q question) entry {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	a := truth.Answer{Begin: time.Now()}
	a.Code, a.Header, a.Body, a.Err = c.get(ctx, q)
	a.End = time.Now()
	return entry{c.name, c.kind, a.Begin, a.End, q.judge(a)}
}

func (c client) get(ctx context.Context, q question) (code int, header http.Header, body []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+q.path, nil)
	if err != nil {
		return 0, nil, nil, err
	}
	r.Header.Set("Accept", q.accept)
	r.Header.Set("Accept-Encoding", "identity")
	resp, err := c.transport.RoundTrip(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, body, err
}

// askAll has all clients ask until the context ends, each with a pause that
// is as long as said on average.
func askAll(ctx context.Context, clients []client, pause time.Duration, j *journal) {
	var asking sync.WaitGroup
	for _, c := range clients {
		asking.Go(func() {
			for n := 0; measure.Pass(ctx, rand.N(2*pause+1)) == nil; n++ {
				if c.may != nil && !c.may() {
					continue
				}
				if e := c.ask(ctx, c.question(n)); ctx.Err() == nil { // what was cut off is nobody's fault
					j.add(e)
				}
			}
		})
	}
	asking.Wait()
}

// clients are all that ask. They begin with different questions.
func (s *scene) clients(st *stage.Stage) ([]client, error) {
	front, hub := s.replicas.URL(), st.Hub().URL
	var all []client
	add := func(name string, k kind, url string, q func(int) question) error {
		c := client{name: name, kind: k, url: url, question: q}
		var err error
		if c.transport, err = st.Asker(url); url == hub {
			c.transport, err = st.HubAsker()
		}
		all = append(all, c)
		return err
	}
	var errs []error
	for i := range 5 {
		errs = append(errs, add(fmt.Sprintf("list-%d", i+1), lists, front, func(n int) question { return s.list(n + i) }))
	}
	for i, server := range s.replicas.Servers {
		errs = append(errs, add(fmt.Sprintf("list-replica-%d", i+1), lists, server.URL, func(n int) question { return s.list(n + i) }))
		all[len(all)-1].may = func() bool { return s.replicas.Up(i) }
	}
	errs = append(errs,
		add("list-hub", hubLists, hub, s.list),
		add("list-first", coldLists, front, s.firstList),
		add("custom", figures, front, s.custom), add("custom-hub", figures, hub, s.custom),
		add("external", figures, front, s.external), add("external-hub", figures, hub, s.external),
	)
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// accepts are in protobuf mostly: to judge JSON costs several times as much.
var accepts = [...]string{stage.Protobuf, stage.Protobuf, stage.Protobuf, stage.JSON}

// list asks for all Pods of a namespace, or for those of one workload.
func (s *scene) list(n int) question {
	form := n % len(accepts)
	n /= len(accepts)
	selector := labels.Everything()
	if n%2 == 1 {
		selector = labels.SelectorFromSet(labels.Set{"app": "web"})
	}
	return s.usage(truth.Asked{Namespace: loadNamespace(n / 2 % namespaces), Selector: selector}, accepts[form])
}

func (s *scene) firstList(int) question {
	return s.usage(truth.Asked{Namespace: coldNamespace(int(s.phase.Load()) % coldNamespaces), Selector: labels.Everything()}, stage.Protobuf)
}

func (s *scene) usage(asked truth.Asked, accept string) question {
	path := "/apis/metrics.k8s.io/v1beta1/namespaces/" + asked.Namespace + "/pods"
	if !asked.Selector.Empty() {
		path += "?labelSelector=" + url.QueryEscape(asked.Selector.String())
	}
	return question{path, accept, func(a truth.Answer) truth.Judgement { return s.judge.Usage(asked, a) }}
}

func (s *scene) custom(n int) question {
	path := "/apis/custom.metrics.k8s.io/v1beta2/namespaces/" + loadNamespace(0)
	if n%2 == 0 {
		return question{path + "/services/api/" + requests, stage.JSON, func(a truth.Answer) truth.Judgement { return s.judge.Sum(s.sum, a) }}
	}
	asked := truth.Asked{Namespace: loadNamespace(0), Selector: labels.SelectorFromSet(labels.Set{"app": "web"})}
	return question{
		path + "/pods/*/" + requests + "?labelSelector=" + url.QueryEscape(asked.Selector.String()), stage.JSON,
		func(a truth.Answer) truth.Judgement { return s.judge.Figures(asked, a) },
	}
}

func (s *scene) external(n int) question {
	metric := [...]string{queue, shard}[n%2]
	return question{
		"/apis/external.metrics.k8s.io/v1beta1/namespaces/" + loadNamespace(0) + "/" + metric, stage.JSON,
		func(a truth.Answer) truth.Judgement { return s.judge.Series(s.series[metric], a) },
	}
}

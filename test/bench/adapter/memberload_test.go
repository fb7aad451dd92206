// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/sim"
)

func TestCrowdsAskForTheirs(t *testing.T) {
	m := newFleet(t, 1).Members()[0]
	if crowdNamespace(0, true) == crowdNamespace(1, true) || crowdNamespace(0, false) != crowdNamespace(1, false) {
		t.Error("namespaces are shared, or not, in the wrong case")
	}
	c := &crowd{server: server(t, m)}
	m.Behave(sim.Conduct{Failing: 1})
	c.askOnce(t.Context(), shop)
	m.Behave(sim.Conduct{})
	c.askOnce(t.Context(), shop)
	fleettest.Same(t, "", answers{whole: 1, refused: refusals{503: 1}}, c.take(), cmp.AllowUnexported(answers{}))
	if left := c.take(); left.whole != 0 || left.refused.total() != 0 {
		t.Errorf("taken twice: %+v", left)
	}
}

func TestCrowdsGrow(t *testing.T) {
	m := newFleet(t, 1).Members()[0]
	c := &crowd{server: server(t, m), apart: true}
	ctx, stop := context.WithCancel(t.Context())
	for _, n := range []int{1, 3, 3} {
		c.grow(ctx, n, time.Millisecond)
	}
	for m.Requests().Of("metrics.k8s.io") < 3 {
		if err := measure.Pass(t.Context(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	c.asking.Wait()
	if got := m.Requests().Of("metrics.k8s.io"); got != 3 || c.n != 3 {
		t.Errorf("%d asked %d times", c.n, got)
	}
}

func TestReachesOfLoads(t *testing.T) {
	p := plan{Autoscalers: []int{1, 100}}
	const same, each, whole = "requests to a member for 100 autoscalers of one namespace, of those for one",
		"requests to a member for 100 namespaces, of those for one", "answers that are not whole, once each namespace is known"
	for name, tc := range map[string]struct {
		together, apart measure.Samples
		refused         refusals
		want            map[string]bool
	}{
		"as it should be": {measure.Samples{4, 4.4}, measure.Samples{12, 9}, nil, map[string]bool{same: true, each: true, whole: true}},
		"askers count":    {measure.Samples{5, 5}, measure.Samples{12, 12}, nil, map[string]bool{same: false, each: true, whole: true}},
		"namespaces cost": {measure.Samples{4, 4}, measure.Samples{13, 14}, nil, map[string]bool{same: true, each: false, whole: true}},
		"a part": {measure.Samples{4, 4}, measure.Samples{12, 12}, refusals{200: 1},
			map[string]bool{same: true, each: true, whole: false}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoader(nil, p, nil, io.Discard)
			l.loads[false][1].requests = measure.Samples{4, 4}
			l.loads[false][100].requests, l.loads[true][100].requests = tc.together, tc.apart
			l.loads[true][100].later = answers{5, tc.refused}
			s := l.loads.section(p)
			fleettest.Same(t, "", tc.want, reached(s))
			if got := len(s.Tables[0].Rows); got != 3 {
				t.Errorf("%d rows", got)
			}
		})
	}
	if s := newLoader(nil, p, nil, io.Discard).loads.section(p); reached(s)[whole] {
		t.Error("no answers are whole answers")
	}
}

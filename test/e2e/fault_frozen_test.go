// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// A member's API server hangs. Who asks for a namespace that is known continues
// getting everything, at once, and no member is asked for it. Who asks for all
// namespaces gets the other members' pods. When what is known of the member is
// too old, its part is missing. It comes back by itself.
func TestFrozenMember(t *testing.T) {
	e := whole(t)
	before := e.askOften(t)
	e.freeze(t, "member2")

	during := e.askOften(t)
	t.Logf("%d warm questions took %v at the median and %v at most; before the member froze %v and %v",
		questions, during.median, during.most, before.median, before.most)

	e.sees(t, "all namespaces lack the frozen member", allPath, lacks("member2", "Timeout"))
	if said := e.kubectl(t, "top", "pods", "-A"); !strings.Contains(said.Stderr, "Warning: 1 of 3 clusters did not answer: member2 (Timeout") {
		t.Errorf("kubectl top pods -A warns %q", said.Stderr)
	}
	e.sees(t, "a known namespace lacks the frozen member", shopPath, lacks("member2", "Timeout"))
	if ready, _ := metric(t, e.adapter, "fleetscale_cluster_ready", `cluster="member2"`); ready != 0 {
		t.Errorf("fleetscale_cluster_ready of the frozen member is %v", ready)
	}
	e.thaw(t, "member2")
	e.recovers(t)
}

// questions are many more than the adapter itself asks a member meanwhile.
const questions = 300

type latencies struct{ median, most time.Duration }

// askOften asks for a known namespace again and again. Every answer must be
// whole, and none may have made the adapter ask a member.
func (e *env) askOften(t *testing.T) latencies {
	t.Helper()
	const scrapes = "fleetscale_usage_scrapes_total"
	begin := time.Now()
	before, _ := metric(t, e.adapter, scrapes)
	var took []time.Duration
	for range questions {
		asked := time.Now()
		v := e.query(t, shopPath)
		took = append(took, time.Since(asked))
		if err := isWhole(v); err != nil {
			t.Fatal(err)
		}
	}
	after, found := metric(t, e.adapter, scrapes)
	if !found {
		t.Fatalf("there is no metric %s", scrapes)
	}
	most := e.ownQuestions(t, time.Since(begin))
	if after-before > most || most > questions/2 {
		t.Errorf("members were asked %v times while %d questions were put; the adapter's own are %v at most", after-before, questions, most)
	}
	t.Logf("members were asked %v times while %d questions were put", after-before, questions)
	slices.Sort(took)
	return latencies{median: took[len(took)/2], most: took[len(took)-1]}
}

// ownQuestions returns how often the adapter may ask the members in a time, by
// itself: each of them once per period for each question that is kept hot.
func (e *env) ownQuestions(t *testing.T, d time.Duration) float64 {
	t.Helper()
	hot, _ := metric(t, e.adapter, "fleetscale_usage_hot_namespaces")
	return 3 * hot * (math.Ceil(d.Seconds()/period.Seconds()) + 1)
}

func (e *env) freeze(t *testing.T, member string) {
	t.Helper()
	c := e.cluster(t, member)
	if err := c.Freeze(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Thaw() })
}

func (e *env) thaw(t *testing.T, member string) {
	t.Helper()
	c := e.cluster(t, member)
	if err := c.Thaw(); err != nil {
		t.Fatal(err)
	}
}

// recovers waits until the fleet is whole, and says how long that took.
func (e *env) recovers(t *testing.T) {
	t.Helper()
	begin := time.Now()
	e.awaitWhole(t)
	t.Logf("recovered within %v", time.Since(begin).Round(100*time.Millisecond))
}

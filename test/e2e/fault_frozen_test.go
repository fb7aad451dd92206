// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// A member's API server hangs. Who asks for a namespace that is known goes on
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

// questions are many more than a member is asked by the adapter itself meanwhile.
const questions = 300

type latencies struct{ median, most time.Duration }

// askOften asks for a known namespace again and again. Every answer must be
// whole, and the members must not notice.
func (e *env) askOften(t *testing.T) latencies {
	t.Helper()
	begin := time.Now()
	before, _ := metric(t, e.adapter, "fleetscale_cluster_requests_total")
	var took []time.Duration
	for range questions {
		asked := time.Now()
		v := e.look(t, shopPath)
		took = append(took, time.Since(asked))
		if err := isWhole(v); err != nil {
			t.Fatal(err)
		}
	}
	after, _ := metric(t, e.adapter, "fleetscale_cluster_requests_total")
	if most := e.ownQuestions(t, time.Since(begin)); after-before > most {
		t.Errorf("%v requests to members while %d questions were asked; %v would be the adapter's own", after-before, questions, most)
	}
	slices.Sort(took)
	return latencies{median: took[len(took)/2], most: took[len(took)-1]}
}

// ownQuestions is how often the adapter may ask the members in a time, by
// itself: for each hot namespace once per period, and twice per probe, which
// come twice a second at the most.
func (e *env) ownQuestions(t *testing.T, d time.Duration) float64 {
	t.Helper()
	hot, _ := metric(t, e.adapter, "fleetscale_usage_hot_namespaces")
	rounds := math.Ceil(d.Seconds()/period.Seconds()) + 1
	probes := 2 * (math.Ceil(d.Seconds()) + 1)
	most := 3 * (hot*rounds + probes)
	if most > questions/2 {
		t.Fatalf("the adapter may ask the members %v times in %v by itself: too often to tell whether %d questions made it ask", most, d, questions)
	}
	return most
}

func (e *env) freeze(t *testing.T, member string) {
	t.Helper()
	c, err := e.Cluster(member)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Freeze(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Thaw() })
}

func (e *env) thaw(t *testing.T, member string) {
	t.Helper()
	c, err := e.Cluster(member)
	if err != nil {
		t.Fatal(err)
	}
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

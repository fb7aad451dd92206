// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"net/http"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

const crowd = 200

// However many ask the same at once, each member is asked once. That is counted
// by the members' API servers.
func TestACrowdIsOneQuestion(t *testing.T) {
	e := whole(t)
	const metric = "crowd_rps"
	e.tellWeb(t, metric)
	e.tell(t, "services", "web", metric, figure{"member1": "1", "member2": "2"})
	e.tellSeries(t, "member1", metric, map[string]string{"name=mail": "3"})
	for path, want := range map[string][]string{
		podsMetric(metric):     {"member1/web-0 11", "member2/web-0 21", "member1/web-1 12", "member2/web-1 22"},
		serviceMetric(metric):  {"web 3"},
		externalMetric(metric): {"name=mail 3"},
	} {
		before := map[string]int{}
		for _, member := range allMembers() {
			before[member] = len(e.asked(t, member, metric))
		}
		took := e.askInACrowd(t, path, whollyTells(want...))
		most := 1 + int(took/answerTTL) // an answer is kept so long
		for _, member := range allMembers() {
			if got := len(e.asked(t, member, metric)) - before[member]; got < 1 || got > most {
				t.Errorf("GET %s: %d asked within %v, and %s got %d questions, want 1 to %d", path, crowd, took, member, got, most)
			}
		}
		t.Logf("GET %s: %d asked within %v", path, crowd, took)
	}
}

func (e *env) askInACrowd(t *testing.T, path string, right func(told) error) time.Duration {
	t.Helper()
	hub := config(t, e.Hub())
	begin := time.Now()
	group, ctx := errgroup.WithContext(t.Context())
	for range crowd {
		group.Go(func() error {
			v, err := hear(ctx, hub, path)
			if err != nil {
				return err
			}
			return right(v)
		})
	}
	if err := group.Wait(); err != nil {
		t.Errorf("GET %s: %v", path, err)
	}
	return time.Since(begin)
}

// A member's own adapter, asked with the header by which our controllers allow
// partial answers, says what it says without it.
func TestTheHeaderDoesNotDisturbOthers(t *testing.T) {
	e := whole(t)
	const metric = "header_rps"
	e.tellWeb(t, metric)
	e.tell(t, "services", "web", metric, figure{"member1": "300m"})
	e.tellSeries(t, "member1", metric, map[string]string{"name=mail": "3"})
	member := config(t, e.member(t, "member1"))
	for path, want := range map[string][]string{
		podsMetric(metric):     {"web-0 11", "web-1 12"},
		serviceMetric(metric):  {"web 300m"},
		externalMetric(metric): {"name=mail 3"},
	} {
		for _, header := range []string{"", "allow"} {
			v, err := hear(t.Context(), allowing(member, header), path)
			if err == nil {
				err = tells(want...)(v)
			}
			if err != nil {
				t.Errorf("GET %s with %q: %v", path, header, err)
			}
		}
	}
}

// A question of the fleet is the hub's, and ends with its asker; the answer is
// for the next one.
func TestImpatientAskers(t *testing.T) {
	e := whole(t)
	const metric = "impatient_rps"
	e.tell(t, "services", "web", metric, figure{"member1": "1", "member2": "2"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if v, err := hear(ctx, config(t, e.Hub()), serviceMetric(metric)); err == nil && v.Code == http.StatusOK {
		t.Log("it was answered within a millisecond")
	}
	e.wants(t, serviceMetric(metric), whollyTells("web 3"))
}

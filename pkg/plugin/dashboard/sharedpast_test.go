// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/history/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
)

const decisionsOf = "/apis/history.fleetscale.io/v1alpha1/namespaces/shop/federatedhpas/"

// pastOf is the page of an autoscaler once its record was read, or cannot be.
func (p *served) pastOf(id, token string) (d detail) {
	p.t.Helper()
	for d.Reading = true; d.Reading; {
		d = detail{}
		if got := p.get("/autoscaler?id="+id, token); json.Unmarshal([]byte(got.body), &d) != nil {
			p.t.Fatal(got.Status, got.body)
		}
	}
	return d
}

// The past is read with each reader's own token: who may not read it is shown nothing of it, whoever else has it open.
func TestReadersSeeTheirOwnPast(t *testing.T) {
	p := host(t, 10)
	records := recordsOf(t, recordingtest.Hour(time.Now().Add(-61*time.Minute).Truncate(time.Second), "east"))
	for _, name := range []string{"ann", "bob", "cid"} {
		hub := p.gate.admit("token-of-"+name, name)
		holds(hub, "shop", "east")
		switch name {
		case "ann":
			hub.PutRecord("shop", "east", records...)
		case "bob":
			hub.Refuse(decisionsOf+"east/decisions", http.StatusForbidden)
		}
		p.follow(p.browser(), "/", "Bearer token-of-"+name).all()
	}
	const id = "fhpa/shop/east"
	ann := p.pastOf(id, "token-of-ann")
	if ann.Recorded == nil || ann.Recorded.Decisions != len(records) || ann.RecordTrouble != "" || len(ann.Series.At) < 2 {
		t.Errorf("ann is shown %+v, %q", ann.Recorded, ann.RecordTrouble)
	}
	bob := p.pastOf(id, "token-of-bob")
	if bob.Recorded != nil || !strings.Contains(bob.RecordTrouble, "fleetscale-history-reader") {
		t.Errorf("bob is shown %+v, %q", bob.Recorded, bob.RecordTrouble)
	}
	if cid := p.pastOf(id, "token-of-cid"); cid.Recorded != nil || cid.RecordTrouble != "" { // a hub without records is no trouble
		t.Errorf("cid is shown %+v, %q", cid.Recorded, cid.RecordTrouble)
	}
	for _, path := range []string{"/moment?at=9999999999999&id=", "/replay?set=spec.maxReplicas=40&id="} {
		if got := p.get(path+id, "token-of-ann"); got.StatusCode != http.StatusOK {
			t.Errorf("%s for ann: %d %s", path, got.StatusCode, got.body)
		}
		if got := p.get(path+id, "token-of-bob"); got.StatusCode == http.StatusOK {
			t.Errorf("%s for bob: %s", path, got.body)
		}
	}
	if got := p.get("/autoscaler?id=fhpa/shop/west", "token-of-ann"); got.StatusCode != http.StatusNotFound {
		t.Errorf("one that ann cannot list: %d", got.StatusCode)
	}
	for question, want := range map[string]bool{"GET token-of-ann " + decisionsOf + "east/decisions": true,
		"GET token-of-bob " + decisionsOf + "east/decisions": true, "GET token-of-ann " + decisionsOf + "west/decisions": false} {
		if (p.gate.times(question) > 0) != want {
			t.Errorf("%s: asked %d times", question, p.gate.times(question))
		}
	}
}

// Readers who go away amid an answer, more often than they may have it open, leave nothing behind but what is kept for their return, for a
// while.
func TestReadersWhoGoAway(t *testing.T) {
	const many = 5
	p := host(t, many)
	records := recordsOf(t, recordingtest.Hour(time.Now().Add(-61*time.Minute).Truncate(time.Second), "east"))
	const id = "fhpa/shop/east"
	var all sync.WaitGroup
	for i := range many {
		token := fmt.Sprint("token-", i)
		hub := p.gate.admit(token, token)
		holds(hub, "shop", "east")
		hub.PutRecord("shop", "east", records...)
		all.Go(func() {
			p.get("/", token)
			for range mostStreams + 1 {
				for _, path := range []string{"/stream", "/autoscaler?id=" + id, "/replay?set=spec.maxReplicas=40&id=" + id} {
					p.leaveAmid(path, token)
				}
			}
		})
	}
	all.Wait()
	p.comes("nobody has a page open", func() bool {
		p.shared.views.mu.Lock()
		defer p.shared.views.mu.Unlock()
		for _, v := range p.shared.views.held {
			if v.using > 0 || v.value.site.streams.Load() > 0 {
				return false
			}
		}
		return len(p.shared.reading)+len(p.shared.deciding)+len(p.shared.asking) == 0
	})
	if n := p.shared.views.kept(); n != many {
		t.Errorf("%d pages are kept", n)
	}
	p.pass(idle)
	p.shared.views.sweep()
	p.comes("nothing runs for them", func() bool {
		p.shared.namespaces.mu.Lock()
		defer p.shared.namespaces.mu.Unlock()
		return len(p.shared.namespaces.joined) == 0 && !running("(*site)", "(*watcher)", "(*source)", "(*histories)", "client-go/tools/cache")
	})
}

// leaveAmid asks, and goes away as soon as that was sent.
func (p *served) leaveAmid(path, token string) {
	p.t.Helper()
	ctx, leave := context.WithCancel(p.t.Context())
	defer leave()
	sent := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { leave() }})
	answer, err := p.browser().Do(p.question(sent, path, "Bearer "+token))
	if err == nil {
		_ = answer.Body.Close()
	}
}

// comes waits until something is so.
func (p *served) comes(what string, so func() bool) {
	p.t.Helper()
	is := func(context.Context) (bool, error) { return so(), nil }
	if err := wait.PollUntilContextTimeout(p.t.Context(), 10*time.Millisecond, time.Minute, true, is); err != nil {
		p.t.Fatalf("waiting until %s: %v\n%s", what, err, goroutines())
	}
}

// running reports whether any goroutine is in one of these.
func running(of ...string) bool {
	all := goroutines()
	return slices.ContainsFunc(of, func(name string) bool { return strings.Contains(all, name) })
}

// goroutines are the stacks of all.
func goroutines() string {
	text := make([]byte, 8<<20)
	return string(text[:runtime.Stack(text, true)])
}

// Who loses the right to a record loses what was read of it, and has it again with the right.
func TestRecordOfALostRight(t *testing.T) {
	followed(t, func(t *testing.T, r *recorder, h *histories) {
		h.past(t.Context(), cart)
		of := schema.GroupResource{Group: v1alpha1.GroupName, Resource: v1alpha1.FederatedHPAs}
		r.err = apierrors.NewForbidden(of, "cart", nil)
		time.Sleep(leastPause)
		if got := h.past(t.Context(), cart); got.recorded != nil || got.trouble == "" || len(h.open[cart].segments) != 0 {
			t.Errorf("%+v", got)
		}
		r.err = nil
		time.Sleep(leastPause)
		if got := h.past(t.Context(), cart); got.recorded == nil || !r.asked[2].IsZero() {
			t.Errorf("%+v, asked since %v", got, r.asked)
		}
	})
}

// With a page ends what was read for it.
func TestRecordsEndWithTheirPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{records: recordsOf(t, recordingtest.Hour(noon, "cart"))}
		ctx, end := context.WithCancel(t.Context())
		h := newHistories(ctx, r.ask, ownRoom, noTurns)
		h.past(t.Context(), cart)
		end()
		synctest.Wait()
		if len(h.open) != 0 {
			t.Errorf("%d are kept", len(h.open))
		}
		if got := h.past(t.Context(), cart); got != (before{}) || len(h.open) != 0 || len(r.asked) != 1 {
			t.Errorf("%+v, %d are kept, asked since %v", got, len(h.open), r.asked)
		}
	})
}

// Few do something at one time, and who has waited without success keeps nobody out.
func TestTurns(t *testing.T) {
	all := turns{make(chan struct{}, 2), make(chan struct{}, 1)}
	leave, err := all.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gone, end := context.WithCancel(t.Context())
	end()
	if _, err := all.take(gone); err == nil || len(all[0]) != 1 || len(all[1]) != 1 {
		t.Errorf("a second one: %v; %d and %d have turns", err, len(all[0]), len(all[1]))
	}
	leave()
	for range 20 { // a free turn and an end are equal to a select
		if _, err := all.take(gone); err == nil || len(all[0])+len(all[1]) != 0 {
			t.Fatalf("%v; %d and %d have turns", err, len(all[0]), len(all[1]))
		}
	}
	if _, err := (turns)(nil).take(gone); err != nil {
		t.Error(err)
	}
}

// Who walks through autoscalers has one record read at a time, none that is no longer kept, and others do not wait for those.
func TestOneReaderKeepsNoOtherWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, own := make(chan struct{}, 2), make(chan struct{}, 1)
		pageOf := func(r *recorder, own chan struct{}) *histories {
			return newHistories(t.Context(), r.ask, sharedRoom, func(string) (turns, func()) { return turns{own, all}, func() {} })
		}
		walker, other := &recorder{takes: closedAfter / 10}, &recorder{records: recordsOf(t, recordingtest.Hour(noon, "cart"))}
		walks, opens := pageOf(walker, own), pageOf(other, make(chan struct{}, 1))
		gone, end := context.WithCancel(t.Context())
		end()
		own <- struct{}{} // something else is read
		for i := range 100 {
			walks.past(gone, fmt.Sprint("fhpa/shop/", i))
		}
		synctest.Wait()
		<-own
		synctest.Wait()
		if len(all) > 1 {
			t.Errorf("%d of its records are read at one time", len(all))
		}
		if got := opens.past(t.Context(), cart); got.recorded == nil {
			t.Errorf("another page: %+v", got)
		}
		time.Sleep(10 * time.Minute)
		if n := len(walker.sinces()); n != sharedRoom.open {
			t.Errorf("%d records were asked for, and %d are kept", n, sharedRoom.open)
		}
	})
}

// Those who read records of one namespace wait for each other, as the hub answers for one of them at a time, and no others wait for them.
func TestCrowdKeepsNoOtherWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShared(t.Context(), &rest.Config{}, DefaultMostPages, time.Now)
		var reading, most atomic.Int32
		crowded := func(ctx context.Context, of recording.Object, since time.Time) (io.ReadCloser, error) {
			if n := reading.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer reading.Add(-1)
			return (&recorder{takes: time.Second, records: recordsOf(t, recordingtest.Hour(noon, "cart"))}).ask(ctx, of, since)
		}
		pages := make([]*histories, DefaultMostPages)
		for i := range pages {
			pages[i] = newHistories(t.Context(), crowded, sharedRoom, s.readingTurns())
			go pages[i].past(t.Context(), cart)
		}
		synctest.Wait()
		other := &recorder{}
		newHistories(t.Context(), other.ask, sharedRoom, s.readingTurns()).past(t.Context(), "fhpa/pay/cart")
		if n := len(other.sinces()); n != 1 || len(s.reading) != 1 {
			t.Errorf("another namespace was asked for %d times; %d have a turn", n, len(s.reading))
		}
		time.Sleep(DefaultMostPages * time.Second)
		synctest.Wait()
		for i, page := range pages {
			if page.open[cart].known == nil {
				t.Errorf("page %d has no past", i)
			}
		}
		if most.Load() != 1 || len(s.namespaces.joined) != 0 || len(s.reading) != 0 {
			t.Errorf("%d were asked for at a time; %d queues are left, and %d turns", most.Load(), len(s.namespaces.joined), len(s.reading))
		}
	})
}

// slowBrowser reads nothing of an answer for a while.
type slowBrowser struct{ *httptest.ResponseRecorder }

func (b slowBrowser) Write(p []byte) (int, error) {
	time.Sleep(time.Hour)
	return b.ResponseRecorder.Write(p)
}

// A browser that does not read its answer keeps its own page waiting, and no other.
func TestSlowBrowserKeepsNoOtherWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deciding := turns{make(chan struct{}, 1)}
		pageOf := func() *site {
			r := &recorder{records: recordsOf(t, recordingtest.Hour(noon, "cart"))}
			s := &site{pasts: newHistories(t.Context(), r.ask, sharedRoom, noTurns), own: turns{make(chan struct{}, 1)}, turns: deciding}
			s.pasts.past(t.Context(), cart)
			return s
		}
		slow, other := pageOf(), pageOf()
		ask := func(s *site, w http.ResponseWriter) {
			s.replay(w, httptest.NewRequest(http.MethodGet, "/replay?id="+cart, nil))
		}
		go ask(slow, slowBrowser{httptest.NewRecorder()})
		synctest.Wait()
		answers := func(s *site, want int) {
			t.Helper()
			w := httptest.NewRecorder()
			if ask(s, w); w.Code != want {
				t.Errorf("%d, want %d: %s", w.Code, want, w.Body)
			}
		}
		answers(other, http.StatusOK)
		answers(slow, http.StatusServiceUnavailable)
		time.Sleep(2 * time.Hour)
	})
}

// The more an autoscaler has clusters, the fewer points are kept of it.
func TestPointsOfManyClustersAreFew(t *testing.T) {
	records := recordsOf(t, recordingtest.SplitHour(noon, 50))
	r := &recorded{most: 1 << 12}
	for _, record := range records {
		r.add(record)
		weight := 0
		for i := range r.points {
			weight += r.points[i].weight()
		}
		if weight != r.weight || weight > r.most {
			t.Fatalf("%d points weigh %d, which is taken for %d", len(r.points), weight, r.weight)
		}
	}
	if n := len(r.points); n < 2 || !r.points[n-1].At.After(noon.Add(30*time.Minute)) {
		t.Errorf("%d points are kept, the last of %v", n, r.points[n-1].At)
	}
}

// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fleetscale/fleetscale/pkg/plugin/replaying"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
)

const cart = "fhpa/shop/cart"

// recorder answers questions for a record that grows.
type recorder struct {
	records []*recording.Record
	err     error
	takes   time.Duration

	mu    sync.Mutex
	asked []time.Time
	told  []int // how many decisions
}

func (r *recorder) ask(ctx context.Context, of recording.Object, since time.Time) (io.ReadCloser, error) {
	r.mu.Lock()
	r.asked = append(r.asked, since)
	r.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(r.takes):
	}
	if r.err != nil {
		return nil, r.err
	}
	if (of != recording.Object{Namespace: "shop", Name: "cart"}) {
		return io.NopCloser(strings.NewReader(recording.Magic)), nil
	}
	answer := answered(r.records, since)
	first := slices.IndexFunc(r.records, func(r *recording.Record) bool { return !r.Question.Now.Before(since) })
	r.told = append(r.told, len(r.records)-first)
	return io.NopCloser(bytes.NewReader(answer)), nil
}

// sinces are from when on it was asked, in the order of the questions.
func (r *recorder) sinces() []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

// followed runs a test of histories that follow a recorder.
func followed(t *testing.T, test func(*testing.T, *recorder, *histories)) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{records: recordsOf(t, recordingtest.Hour(noon, "cart"))}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		test(t, r, newHistories(ctx, r.ask, ownRoom, noTurns))
	})
}

// A page that stays open has its record read once, and then only what has come since.
func TestOpenPagesFollowTheirRecord(t *testing.T) {
	followed(t, func(t *testing.T, r *recorder, h *histories) {
		records := r.records
		r.records = records[:200]
		for range 5 {
			if got := h.past(t.Context(), cart); got.recorded == nil || got.recorded.Decisions != 200 || got.trouble != "" || got.reading {
				t.Fatalf("%+v", got)
			}
		}
		time.Sleep(leastPause)
		r.records = records[:203]
		if got := h.past(t.Context(), cart); got.recorded.Decisions != 203 {
			t.Fatalf("%+v", got.recorded)
		}
		if !slices.Equal(r.told, []int{200, 4}) || !r.asked[0].IsZero() || !r.asked[1].Equal(records[199].Question.Now) {
			t.Errorf("it was asked since %v, and told %v decisions", r.asked, r.told)
		}
		n := 0
		all := func(recording.Object) bool { return true }
		if _, err := h.archiveOf(cart).Each(t.Context(), all, func(*recording.Record) { n++ }); err != nil || n != 203 {
			t.Errorf("%d decisions can be explained: %v", n, err)
		}
	})
}

// A page that was closed leaves nothing behind, and one that nobody has open for a while is not closed.
func TestClosedPagesAreForgotten(t *testing.T) {
	followed(t, func(t *testing.T, r *recorder, h *histories) {
		for range 3 {
			h.past(t.Context(), cart)
			time.Sleep(closedAfter - time.Second)
		}
		if h.archiveOf(cart) == nil || len(r.asked) != 3 || r.asked[2].IsZero() {
			t.Fatalf("asked since %v", r.asked)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if h.archiveOf(cart) != nil || len(h.open) != 0 {
			t.Fatalf("%d records are kept", len(h.open))
		}
		if got := h.past(t.Context(), cart); got.recorded.Decisions != 241 || !r.asked[3].IsZero() {
			t.Errorf("asked since %v", r.asked)
		}
	})
}

// A record that takes long keeps no page waiting, and is there later.
func TestPagesDoNotWaitForTheirRecord(t *testing.T) {
	followed(t, func(t *testing.T, r *recorder, h *histories) {
		r.takes = 10 * time.Second
		began := time.Now()
		if got := h.past(t.Context(), cart); got.recorded != nil || !got.reading || time.Since(began) != firstWait {
			t.Fatalf("after %v: %+v", time.Since(began), got)
		}
		time.Sleep(r.takes)
		if got := h.past(t.Context(), cart); got.recorded == nil || got.reading || len(r.sinces()) != 2 {
			t.Fatalf("%+v, asked since %v", got, r.sinces())
		}
	})
}

// What is known stays while it cannot be asked for more, and why is said.
func TestRecordThatCannotBeRead(t *testing.T) {
	followed(t, func(t *testing.T, r *recorder, h *histories) {
		r.err = errors.New("nobody\x1b[0m is there")
		const trouble = "The record cannot be read: nobody"
		if got := h.past(t.Context(), cart); got.recorded != nil || got.reading || !strings.HasPrefix(got.trouble, trouble) ||
			strings.Contains(got.trouble, "\x1b") {
			t.Errorf("%+v", got)
		}
		r.err = nil
		time.Sleep(leastPause)
		h.past(t.Context(), cart)
		r.err = errors.New("nobody")
		time.Sleep(leastPause)
		if got := h.past(t.Context(), cart); got.recorded == nil || got.trouble != trouble {
			t.Errorf("%+v", got)
		}
		if got := h.past(t.Context(), "cronfhpa/shop/cart"); got != (before{}) || len(r.asked) != 3 {
			t.Errorf("%+v, asked since %v", got, r.asked)
		}
	})
}

// A hub that has no records is not asked by each page again and again, and there is no trouble to read about.
func TestHubWithoutRecords(t *testing.T) {
	followed(t, func(t *testing.T, r *recorder, h *histories) {
		r.err = fmt.Errorf("%w: is this the hub?", replaying.ErrNotServed)
		for range 3 {
			for _, id := range []string{cart, "fhpa/shop/other"} {
				if got := h.past(t.Context(), id); got != (before{}) {
					t.Fatalf("%+v", got)
				}
			}
			time.Sleep(2 * leastPause)
		}
		if len(r.asked) != 1 {
			t.Errorf("asked %d times, want once", len(r.asked))
		}
		r.err = nil
		time.Sleep(unservedPause)
		if got := h.past(t.Context(), cart); got.recorded == nil {
			t.Errorf("the hub has records by now, and none is read: %+v", got)
		}
	})
}

// However many are opened, few are kept: those that were open last.
func TestFewRecordsAreKept(t *testing.T) {
	followed(t, func(t *testing.T, _ *recorder, h *histories) {
		for i := range 3 * ownRoom.open {
			h.past(t.Context(), cart)
			h.past(t.Context(), fmt.Sprint("fhpa/shop/other-", i))
			time.Sleep(time.Millisecond)
			if len(h.open) > ownRoom.open || h.archiveOf(cart) == nil {
				t.Fatalf("%d are kept", len(h.open))
			}
		}
	})
}

// The page of an autoscaler has its past without a file: the hub is asked, and again for no more than what is new. What was decided by then
// is explained and replayed.
func TestPageWithTheRecordOfTheHub(t *testing.T) {
	hub, config := hubOf(t)
	records := recordsOf(t, recordingtest.SplitHour(time.Now().Add(-61*time.Minute).Truncate(time.Second), 2))
	hub.PutRecord("shop", "cart", records[:240]...)
	address := started(t, config, "shop")
	listen(t, address).until(read)
	ask := func(what string, into any) {
		t.Helper()
		if answer, body := get(t, address+what+"?id="+cart+"&at="+fmt.Sprint(time.Now().UnixMilli())); json.Unmarshal([]byte(body), into) != nil {
			t.Fatal(answer.Status, body)
		}
	}
	var d detail
	for d.Recorded == nil {
		d = detail{}
		if ask("autoscaler", &d); d.RecordTrouble != "" {
			t.Fatal(d.RecordTrouble)
		}
	}
	if d.Recorded.Decisions != 240 || len(d.Series.Clusters) < 2 || len(d.Series.Unknown) == 0 {
		t.Errorf("%+v %+v", d.Recorded, d.Series)
	}
	var m moment
	if ask("moment", &m); !strings.HasPrefix(m.Explanation, "2..20 replicas, split by StaticWeighted: ") {
		t.Error(m.Explanation)
	}
	var v struct{ Clusters []struct{ Name string } }
	if ask("replay", &v); len(v.Clusters) != 2 {
		t.Errorf("%+v", v)
	}
	hub.PutRecord("shop", "cart", records...)
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for d.Recorded.Decisions != 241 {
		<-again.C
		ask("autoscaler", &d)
	}
	last := records[239].Question.Now.UTC().Format(time.RFC3339)
	if asked := hub.Asked(); len(asked) != 2 || asked[0] != "" || asked[1] != last {
		t.Errorf("it was asked since %q, want all, and then since %q", asked, last)
	}
	d = detail{}
	if _, body := get(t, address+"autoscaler?id=fhpa/pay/api"); json.Unmarshal([]byte(body), &d) != nil || d.Recorded != nil ||
		d.RecordTrouble != "" { // its past is not served, which is no trouble
		t.Errorf("%+v", d)
	}
	if answer, _ := get(t, address+"autoscaler?id=fhpa/shop/none"); answer.StatusCode != 404 {
		t.Error(answer.Status)
	}
}

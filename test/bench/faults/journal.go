// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/faults/truth"
	"github.com/fleetscale/fleetscale/test/bench/measure"
)

// entry is one answer.
type entry struct {
	client     string
	kind       kind
	begin, end time.Time
	truth.Judgement
}

// journal keeps all answers.
type journal struct {
	mu      sync.Mutex
	entries []entry
	shown   map[truth.Verdict]int
	log     io.Writer
}

func newJournal(log io.Writer) *journal { return &journal{shown: map[truth.Verdict]int{}, log: log} }

// add keeps an answer, and shows the first ones that no asker should get.
func (j *journal) add(e entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, e)
	const shown = 5
	if (e.Wrong() || e.Verdict == truth.Silent) && j.shown[e.Verdict] < shown {
		j.shown[e.Verdict]++
		fmt.Fprintf(j.log, "%s %s: %s\n", e.client, e.Verdict, e.Because)
	}
}

// between are the answers that ended in [from, to).
func (j *journal) between(from, to time.Time) entries {
	j.mu.Lock()
	defer j.mu.Unlock()
	var some entries
	for _, e := range j.entries {
		if !e.end.Before(from) && e.end.Before(to) {
			some = append(some, e)
		}
	}
	return some
}

type entries []entry

func (es entries) counts() map[truth.Verdict]int {
	counts := map[truth.Verdict]int{}
	for _, e := range es {
		counts[e.Verdict]++
	}
	return counts
}

// wrong counts answers that mislead, but for silent partial ones.
func (es entries) wrong() (n int) {
	for _, e := range es {
		if e.Wrong() {
			n++
		}
	}
	return n
}

// bad counts what no asker should get.
func (es entries) bad() int { return es.wrong() + es.of(truth.Silent) }

func (es entries) of(v truth.Verdict) int { return es.counts()[v] }

// latencies returns those of lists that the adapters served, in milliseconds.
func (es entries) latencies() (ms measure.Samples) {
	for _, e := range es {
		if e.kind == lists && (e.Verdict == truth.Right || e.Verdict == truth.Partial) {
			ms = append(ms, float64(e.end.Sub(e.begin))/float64(time.Millisecond))
		}
	}
	return ms
}

// recovered returns when the last answer came that was not right, and whether all
// clients have got right ones only since then, for as long as calm. What was asked
// before the end of the fault does not count.
func (es entries) recovered(clients []string, end, now time.Time, calm time.Duration) (last time.Time, ok bool) {
	last = end
	for _, e := range es {
		if e.Verdict != truth.Right && e.begin.After(end) && e.end.After(last) {
			last = e.end
		}
	}
	since := map[string]bool{}
	for _, e := range es {
		if e.begin.After(end) && e.end.After(last) {
			since[e.client] = true
		}
	}
	return last, now.Sub(last) >= calm && len(since) == len(clients)
}

// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Question is what is asked, again and again.
type Question struct {
	// URL is given the number of the question, so that questions may differ.
	URL func(number int) string
	// Accept is a media type.
	Accept string
	// Gzip asks for a compressed answer, which is counted as it comes.
	Gzip bool
}

// Load is how many clients ask at once, each again when it was answered, and for how long.
type Load struct {
	Clients int
	For     time.Duration
}

// Result is what became of it.
type Result struct {
	// Latencies are those of whole answers with 200, in milliseconds.
	Latencies Samples
	// Took is the time until the last one.
	Took time.Duration
	// Bytes of the last whole answer.
	Bytes int
	// Refused counts other answers, by their code. What was no answer at all has code 0.
	Refused map[int]int
	// Complaint is what one of those said.
	Complaint string
}

// PerSecond is how many whole answers came in a second.
func (r Result) PerSecond() float64 { return float64(len(r.Latencies)) / r.Took.Seconds() }

// Ask puts the load on a server. Each client asks once at least.
func Ask(ctx context.Context, client http.RoundTripper, q Question, l Load) Result {
	all := Result{Refused: map[int]int{}}
	var mu sync.Mutex
	var asking sync.WaitGroup
	next := make(chan int)
	begin := time.Now()
	ended, cancel := context.WithCancel(ctx)
	go number(ended, next)
	for range l.Clients {
		asking.Go(func() {
			for again := true; again; again = time.Since(begin) < l.For && ctx.Err() == nil {
				a := once(ctx, client, q, <-next)
				mu.Lock()
				all.add(a)
				mu.Unlock()
			}
		})
	}
	asking.Wait()
	cancel()
	all.Took = time.Since(begin)
	return all
}

func number(ctx context.Context, next chan<- int) {
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			close(next)
			return
		case next <- n:
		}
	}
}

func (r *Result) add(a answer) {
	if a.code == http.StatusOK && a.err == nil {
		r.Latencies = append(r.Latencies, float64(a.took)/float64(time.Millisecond))
		r.Bytes = a.bytes
		return
	}
	r.Refused[a.code]++
	r.Complaint = cmp.Or(r.Complaint, a.complaint())
}

// answer is one.
type answer struct {
	code  int
	bytes int
	took  time.Duration
	said  []byte // the beginning of what is no 200
	err   error
}

func (a answer) complaint() string {
	if a.err != nil {
		return a.err.Error()
	}
	return fmt.Sprintf("%d: %s", a.code, a.said)
}

func once(ctx context.Context, client http.RoundTripper, q Question, number int) answer {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, q.URL(number), nil)
	if err != nil {
		return answer{err: err}
	}
	r.Header.Set("Accept", q.Accept)
	r.Header.Set("Accept-Encoding", map[bool]string{false: "identity", true: "gzip"}[q.Gzip])
	begin := time.Now()
	resp, err := client.RoundTrip(r)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	a := answer{code: resp.StatusCode}
	if a.code != http.StatusOK {
		const most = 300
		a.said, _ = io.ReadAll(io.LimitReader(resp.Body, most))
	}
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil {
		return answer{err: err}
	}
	a.bytes, a.took = int(n), time.Since(begin)
	return a
}

// Cost is what answers cost the server.
type Cost struct {
	Result

	// CPU of one answer, in milliseconds, less what the server uses when it is not asked.
	CPU float64
}

// Idle is the share of a core that a process uses now.
func (p Process) Idle(ctx context.Context, d time.Duration) (float64, error) {
	before, err := p.CPU()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(d):
	}
	after, err := p.CPU()
	return float64(after-before) / float64(time.Since(begin)), err
}

// Costs puts the load on a server that is this process, and uses that share of a core when idle.
func (p Process) Costs(ctx context.Context, client http.RoundTripper, q Question, l Load, idle float64) (Cost, error) {
	before, err := p.CPU()
	if err != nil {
		return Cost{}, err
	}
	result := Ask(ctx, client, q, l)
	after, err := p.CPU()
	if err != nil {
		return Cost{}, err
	}
	if len(result.Latencies) == 0 {
		return Cost{}, fmt.Errorf("asking %s: no whole answer; one said: %s", q.URL(0), result.Complaint)
	}
	cpu := float64(after-before) - idle*float64(result.Took)
	return Cost{Result: result, CPU: max(0, cpu) / float64(time.Millisecond) / float64(len(result.Latencies))}, nil
}

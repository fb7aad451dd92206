// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"bytes"
	"cmp"
	"context"
	"errors"
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
	// Body is what is sent with it, as JSON, and how. Without it the method is GET.
	Body func(number int) (method string, body []byte)
	// Judge says what is wrong with an answer. Without it every 200 is right that
	// bears no warning, and nothing else.
	Judge func(number, code int, body []byte) error
}

// Load is how many clients ask at once, each again when it was answered, and for how long.
type Load struct {
	Clients int
	For     time.Duration
}

// Result is what became of it.
type Result struct {
	// Latencies are those of whole answers that are right, in milliseconds.
	Latencies Samples
	// Took is the time until the last one.
	Took time.Duration
	// Bytes of the last whole answer.
	Bytes int
	// Refused counts other answers, by their code; one of 200 says itself that it
	// is a part. What was no answer at all has code 0.
	Refused map[int]int
	// Complaint is what one of those said.
	Complaint string
}

// PerSecond returns how many whole answers came in a second.
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
	if a.err == nil {
		r.Latencies = append(r.Latencies, float64(a.took)/float64(time.Millisecond))
		r.Bytes = a.bytes
		return
	}
	r.Refused[a.code]++
	r.Complaint = cmp.Or(r.Complaint, a.err.Error())
}

// answer is one.
type answer struct {
	code  int
	bytes int
	took  time.Duration
	err   error // why it is none, or not right
}

func once(ctx context.Context, client http.RoundTripper, q Question, number int) answer {
	r, err := q.request(ctx, number)
	if err != nil {
		return answer{err: err}
	}
	begin := time.Now()
	resp, err := client.RoundTrip(r)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	n, body, err := q.read(resp)
	if err != nil {
		return answer{err: err}
	}
	a := answer{code: resp.StatusCode, bytes: n, took: time.Since(begin)}
	a.err = q.judge(number, resp, body)
	return a
}

func (q Question) request(ctx context.Context, number int) (*http.Request, error) {
	method, body := http.MethodGet, []byte(nil)
	if q.Body != nil {
		method, body = q.Body(number)
	}
	r, err := http.NewRequestWithContext(ctx, method, q.URL(number), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", q.Accept)
	r.Header.Set("Accept-Encoding", map[bool]string{false: "identity", true: "gzip"}[q.Gzip])
	if q.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, nil
}

// read keeps no more of an answer than it takes to judge it.
func (q Question) read(resp *http.Response) (n int, kept []byte, err error) {
	if q.Judge != nil {
		kept, err = io.ReadAll(resp.Body)
		return len(kept), kept, err
	}
	if resp.StatusCode != http.StatusOK {
		const most = 300
		kept, _ = io.ReadAll(io.LimitReader(resp.Body, most))
	}
	rest, err := io.Copy(io.Discard, resp.Body)
	return len(kept) + int(rest), kept, err
}

func (q Question) judge(number int, resp *http.Response, body []byte) error {
	switch warning := resp.Header.Get("Warning"); {
	case q.Judge != nil:
		return q.Judge(number, resp.StatusCode, body)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%d: %s", resp.StatusCode, body)
	case warning != "": // Kubernetes' own servers of metrics have none
		return errors.New(warning)
	default:
		return nil
	}
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

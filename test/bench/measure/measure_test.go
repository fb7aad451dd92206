// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestSamples(t *testing.T) {
	tests := map[string]struct {
		samples     Samples
		median, p90 float64
		text        string
	}{
		"one":              {Samples{3}, 3, 3, "3"},
		"an odd number":    {Samples{3, 1, 2}, 2, 3, "2 (1–3)"},
		"an even number":   {Samples{4, 1, 2, 3}, 2.5, 4, "2.5 (1–4)"},
		"ten":              {Samples{10, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 5.5, 9, "5.5 (1–10)"},
		"digits that tell": {Samples{0.01234, 123.456}, 61.73417, 123.456, "61.7 (0.012–123)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.samples.Median(); math.Abs(got-tc.median) > 1e-9 {
				t.Errorf("median %v, want %v", got, tc.median)
			}
			if got := tc.samples.Quantile(0.9); got != tc.p90 {
				t.Errorf("p90 %v, want %v", got, tc.p90)
			}
			if got := tc.samples.String(); got != tc.text {
				t.Errorf("%q, want %q", got, tc.text)
			}
		})
	}
	if got := (Samples{}).String(); got != "–" || !math.IsNaN(Samples{}.Median()) || !math.IsNaN(Samples{}.Quantile(0.5)) {
		t.Errorf("of none: %q", got)
	}
}

func TestRatiosAreOfTheSameRound(t *testing.T) {
	got := Samples{2, 9, 5}.Over(Samples{1, 3, 0, 7})
	fleettest.Same(t, "", Samples{2, 3}, got)
	fleettest.Same(t, "what is left", Samples{1, 6}, Samples{2, 9, 5}.Less(Samples{1, 3}))
}

func TestCPUOfStat(t *testing.T) {
	const stat = "1234 (a (strange) name) S 1 1234 1234 0 -1 4194560 100 0 0 0 250 50 7 7 20 0 12 0 100 1 2"
	if got, err := cpuOf([]byte(stat)); err != nil || got != 3*time.Second {
		t.Errorf("%v, %v; want 3s", got, err)
	}
	for _, bad := range []string{"", "1 (x) S 1", "1 (x) S 1 1 1 0 -1 1 1 0 0 0 x 50 0"} {
		if got, err := cpuOf([]byte(bad)); err == nil {
			t.Errorf("%q gives %v", bad, got)
		}
	}
}

func TestMemoryOfStatus(t *testing.T) {
	got, err := memoryOf("Name:\tx\nVmHWM:\t  2048 kB\nVmRSS:\t    1024 kB\n")
	if want := (Memory{Resident: 1 << 20, Peak: 2 << 20}); err != nil || got != want {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if got, err := memoryOf("Name:\tx\n"); err == nil {
		t.Errorf("of a zombie: %v", got)
	}
}

func TestAsk(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := asked.Add(1); {
		case n%4 == 0:
			http.Error(w, "busy", http.StatusTooManyRequests)
		case r.Header.Get("Accept") != "text/plain" || r.Header.Get("Accept-Encoding") != "identity":
			http.Error(w, "wrong headers", http.StatusBadRequest)
		default:
			fmt.Fprint(w, "hello")
		}
	}))
	defer server.Close()
	q := Question{URL: func(n int) string { return fmt.Sprintf("%s/%d", server.URL, n) }, Accept: "text/plain"}
	got := Ask(t.Context(), http.DefaultTransport, q, Load{Clients: 8, For: 20 * time.Millisecond})
	if len(got.Latencies)+got.Refused[http.StatusTooManyRequests] != int(asked.Load()) || len(got.Latencies) < 6 || got.Bytes != 5 {
		t.Errorf("asked %d times: %d whole answers of %d bytes, refused %v", asked.Load(), len(got.Latencies), got.Bytes, got.Refused)
	}
	if want := "429: busy\n"; got.Complaint != want {
		t.Errorf("complaint %q, want %q", got.Complaint, want)
	}
	if once := Ask(t.Context(), http.DefaultTransport, q, Load{Clients: 3}); len(once.Latencies)+once.Refused[429] != 3 {
		t.Errorf("3 clients that ask once got %d answers", len(once.Latencies))
	}
	server.Close()
	if got := Ask(t.Context(), http.DefaultTransport, q, Load{Clients: 1}); got.Refused[0] != 1 {
		t.Errorf("nobody there: %v", got.Refused)
	}
}

func TestAPartIsNoWholeAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/1" {
			w.Header().Set("Warning", `299 fleetscale/partial "1 of 2"`)
		}
	}))
	defer server.Close()
	q := Question{URL: func(n int) string { return fmt.Sprintf("%s/%d", server.URL, n) }}
	got := Ask(t.Context(), http.DefaultTransport, q, Load{Clients: 3})
	if len(got.Latencies) != 2 || got.Refused[http.StatusOK] != 1 || got.Complaint != `299 fleetscale/partial "1 of 2"` {
		t.Errorf("%+v", got)
	}
}

func TestAnswersAreJudged(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusCreated)
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", r.Method, r.Header.Get("Content-Type"), body)
	}))
	defer server.Close()
	q := Question{
		URL:  func(int) string { return server.URL },
		Body: func(n int) (method string, body []byte) { return http.MethodPut, fmt.Append(nil, n) },
		Judge: func(n, code int, body []byte) error {
			if want := fmt.Sprintf("PUT application/json %d", n); code != http.StatusCreated || string(body) != want {
				return fmt.Errorf("%d %s, want %s", code, body, want)
			}
			if n%4 == 0 {
				return errors.New("not liked")
			}
			return nil
		},
	}
	got := Ask(t.Context(), http.DefaultTransport, q, Load{Clients: 8})
	if len(got.Latencies) != 6 || got.Refused[http.StatusCreated] != 2 || got.Complaint != "not liked" ||
		got.Bytes != len("PUT application/json 0") {
		t.Errorf("%+v", got)
	}
}

func TestCostsAreThoseOfTheServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		begin := time.Now()
		for data := []byte("x"); time.Since(begin) < 10*time.Millisecond; {
			sum := sha256.Sum256(data)
			data = sum[:]
		}
	}))
	defer server.Close()
	self := Process(os.Getpid())
	got, err := self.Costs(t.Context(), http.DefaultTransport, Question{URL: func(int) string { return server.URL }},
		Load{Clients: 1, For: 300 * time.Millisecond}, 0)
	if err != nil || got.CPU < 1 || got.CPU > 200 { // a busy machine may give less than a core
		t.Errorf("%v ms for each answer, %v", got.CPU, err)
	}
	server.Close()
	if got, err := self.Costs(t.Context(), http.DefaultTransport, Question{URL: func(int) string { return server.URL }}, Load{Clients: 1},
		0); err == nil {
		t.Errorf("nobody answered, and that cost %v", got.CPU)
	}
	if m, err := self.Memory(); err != nil || m.Resident < 1<<20 || m.Peak < m.Resident/2 {
		t.Errorf("%+v, %v", m, err)
	}
	if idle, err := self.Idle(t.Context(), 50*time.Millisecond); err != nil || idle < 0 || idle > 4 {
		t.Errorf("idle %v, %v", idle, err)
	}
}

func TestOwnFilesAreCounted(t *testing.T) {
	self := Process(os.Getpid())
	before, sockets, err := self.Descriptors()
	if err != nil || before == 0 {
		t.Fatalf("%v files, %v", before, err)
	}
	front, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	after, still, err := self.Descriptors()
	if err != nil || after != before+1 || still != sockets {
		t.Errorf("%v files and %v sockets after %v and %v, %v", after, still, before, sockets, err)
	}
	if _, _, err := Process(0).Descriptors(); err == nil {
		t.Error("the kernel has files of its own")
	}
}

// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// folded is what write writes, compressed.
func folded(t *testing.T, write func(io.Writer)) []byte {
	t.Helper()
	var all bytes.Buffer
	writer := gzip.NewWriter(&all)
	write(writer)
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}

// sayFolded answers so if it is asked for that.
func sayFolded(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip" { // as net/http asks
			w.WriteHeader(http.StatusNotAcceptable)
			return
		}
		w.Header().Set("Content-Encoding", "GZIP") // of any case
		_, _ = w.Write(body)
	}
}

const metricsPath = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods"

// A bomb costs a few MiB, and not the largest answer that may be; objects may be as much alike as they are.
func TestMetricsThatUnfoldTooFar(t *testing.T) {
	t.Parallel()
	const bytes = 16 << 20
	bomb := folded(t, func(w io.Writer) { _, _ = io.CopyN(w, zeros{}, bytes) })
	_, conn := dial(t, sayFolded(bomb), Options{MaxAnswer: 2 * bytes})
	body, err := conn.Client().Get().AbsPath(metricsPath).Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	read, err := io.Copy(io.Discard, body)
	wantReason(t, err, fleet.ReasonBadAnswer, "unfolded to many times its bytes")
	if read > leastUnfolded {
		t.Errorf("%d bytes were read of it, want %d at most", read, leastUnfolded)
	}
	if got, err := conn.Client().Get().AbsPath(hostilePath).Do(t.Context()).Raw(); err != nil || len(got) != bytes {
		t.Errorf("of objects %d bytes were read, error %v", len(got), err)
	}
}

// What a tenant of the cluster may have written is given up as early, and is no offence.
func TestRelayedMetricsThatUnfoldTooFar(t *testing.T) {
	t.Parallel()
	bomb := folded(t, func(w io.Writer) { _, _ = io.CopyN(w, zeros{}, 2*leastUnfolded) })
	for path, offences := range map[string]int{metricsPath: 1, "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue": 0} {
		p, conn := dial(t, sayFolded(bomb), Options{})
		_, err := conn.Client().Get().AbsPath(path).Do(t.Context()).Raw()
		wantReason(t, err, fleet.ReasonBadAnswer, "unfolded to many times its bytes")
		if got := p.reading.intake.conduct.offences; got != offences {
			t.Errorf("%s: %d offences, want %d", path, got, offences)
		}
	}
}

// Compressed bytes without end that unfold to nothing are misconduct, also of a watch, which no other bound would end.
func TestGzipOfNothing(t *testing.T) {
	t.Parallel()
	var begin bytes.Buffer
	if err := gzip.NewWriter(&begin).Flush(); err != nil {
		t.Fatal(err)
	}
	nothing := bytes.Repeat([]byte{0, 0, 0, 0xff, 0xff}, 10_000) // stored blocks
	p, conn := dial(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, err := w.Write(begin.Bytes())
		for err == nil {
			_, err = w.Write(nothing)
		}
	}), Options{Timeout: time.Minute})
	var said atomic.Int64
	p.reading.intake.onMisconduct = func(*fleet.Silence) { said.Add(1) }
	w, err := conn.WatchClient().Get().AbsPath(hostilePath).Param("watch", "true").Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		t.Log(event)
	}
	if said.Load() != 1 {
		t.Errorf("misconduct was said %d times, want once", said.Load())
	}
}

// Lists of a very large cluster, whose Pods differ by little, are read.
func TestHonestMetricsUnfold(t *testing.T) {
	t.Parallel()
	item := `{"metadata":{"name":"web-7d9f8b6c5d-%05x","namespace":"shop","creationTimestamp":"2026-01-02T03:04:05Z","labels":{"app":"web",` +
		`"pod-template-hash":"7d9f8b6c5d"}},"timestamp":"2026-01-02T03:04:05Z","window":"15s","containers":[{"name":"app",` +
		`"usage":{"cpu":"100m","memory":"64Mi"}}]},`
	var want strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&want, item, i)
	}
	list := folded(t, func(w io.Writer) { _, _ = io.WriteString(w, want.String()) })
	t.Logf("%d bytes unfold to %d", len(list), want.Len())
	_, conn := dial(t, sayFolded(list), Options{})
	got, err := conn.Client().Get().AbsPath(metricsPath).Do(t.Context()).Raw()
	if err != nil || string(got) != want.String() {
		t.Errorf("%d bytes were read of %d, error %v", len(got), want.Len(), err)
	}
}

// Compressed answers that end early, or are not compressed at all, are errors, and empty ones are empty.
func TestBrokenCompression(t *testing.T) {
	t.Parallel()
	whole := folded(t, func(w io.Writer) { _, _ = io.WriteString(w, strings.Repeat("whatever", 1000)) })
	for name, body := range map[string][]byte{"cut": whole[:len(whole)/2], "plain": []byte("{}")} {
		_, conn := dial(t, sayFolded(body), Options{})
		if got, err := conn.Client().Get().AbsPath(metricsPath).Do(t.Context()).Raw(); err == nil {
			t.Errorf("%s: read %d bytes, want an error", name, len(got))
		}
	}
	_, conn := dial(t, sayFolded(folded(t, func(io.Writer) {})), Options{})
	if got, err := conn.Client().Get().AbsPath(metricsPath).Do(t.Context()).Raw(); err != nil || len(got) != 0 {
		t.Errorf("read %q, error %v; want nothing", got, err)
	}
}

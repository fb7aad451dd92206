// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// hostilePath is answered as the test says.
const hostilePath = "/api/v1/namespaces/shop/pods"

// hostile answers so, and is read up to a MiB.
func hostile(t *testing.T, handle http.HandlerFunc) *Connection {
	t.Helper()
	_, conn := dial(t, handle, Options{MaxAnswer: 1 << 20})
	return conn
}

func wantReason(t *testing.T, err error, want fleet.Reason, words string) {
	t.Helper()
	silence, _ := fleet.Classify(err)
	if silence == nil || silence.Reason != want || !strings.Contains(silence.Detail, words) {
		t.Errorf("error %v, want %s: %s", err, want, words)
	}
}

// 600 MiB come in 600 KiB.
func TestAnswerThatUnfoldsIsCutOff(t *testing.T) {
	t.Parallel()
	var folded bytes.Buffer
	writer := gzip.NewWriter(&folded)
	if _, err := io.CopyN(writer, zeros{}, 1<<20); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	bomb := bytes.Repeat(folded.Bytes(), 600) // parts that follow each other are one
	m := hostile(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb)
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	body, err := m.Client().Get().AbsPath(hostilePath).Do(t.Context()).Raw()
	runtime.ReadMemStats(&after)
	wantReason(t, err, fleet.ReasonTooLarge, "larger than 1Mi (--max-member-answer, and a part of GOMEMLIMIT)")
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 64<<20 || len(body) > 0 {
		t.Errorf("%d MiB were allocated to read an answer of more than one, of which %d bytes were kept", allocated>>20, len(body))
	}
	_, err = m.WatchClient().Get().AbsPath(hostilePath).Do(t.Context()).Raw() // a long download is no watch
	wantReason(t, err, fleet.ReasonTooLarge, "larger than 1Mi")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestAnswerOfJustTheBytes(t *testing.T) {
	t.Parallel()
	m := hostile(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.CopyN(w, zeros{}, 1<<20) })
	body, err := m.Client().Get().AbsPath(hostilePath).Do(t.Context()).Raw()
	if len(body) != 1<<20 || err != nil {
		t.Errorf("%d bytes, error %v; want all that may be", len(body), err)
	}
}

// A watch as a whole may be as long as it lasts.
func TestEventThatIsTooLong(t *testing.T) {
	t.Parallel()
	m := hostile(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		event := `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"%s"}}}` + "\n"
		for range 8 {
			fmt.Fprintf(w, event, strings.Repeat("a", 1<<19))
		}
		fmt.Fprint(w, `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"`)
		_, _ = io.Copy(w, letters{})
	})
	w, err := m.WatchClient().Get().AbsPath(hostilePath).Param("watch", "true").Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	whole := 0
	for event := range w.ResultChan() {
		if event.Type == watch.Added {
			whole++
		}
	}
	if whole != 8 {
		t.Errorf("%d events were read, want the 8 that are not too long, and an end", whole)
	}
}

type letters struct{}

func (letters) Read(p []byte) (int, error) { return copy(p, "aaaaaaaaaaaaaaaa"), nil }

const evil = "1e-2147483648"

// evilPod is one whose memory takes forever to read.
func evilPod(t *testing.T, contentType string) []byte {
	t.Helper()
	stand := resource.MustParse("1234567890123") // as long as the evil one
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"innocent": evil}},
		Spec:       corev1.PodSpec{Overhead: corev1.ResourceList{"memory": stand}},
	}
	info, _ := apiruntime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), contentType)
	body, err := apiruntime.Encode(info.Serializer, pod)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(body, []byte(stand.String()), []byte(evil))
}

func TestQuantityThatTakesForEver(t *testing.T) {
	t.Parallel()
	for _, contentType := range []string{apiruntime.ContentTypeJSON, apiruntime.ContentTypeProtobuf} {
		t.Run(contentType, func(t *testing.T) {
			t.Parallel()
			m := hostile(t, func(w http.ResponseWriter, r *http.Request) {
				body := evilPod(t, contentType)
				if isWatch(r) {
					w.Header().Set("Content-Type", contentType+";stream=watch")
					_, _ = w.Write(eventOf(t, contentType, body))
					return
				}
				w.Header().Set("Content-Type", contentType)
				_, _ = w.Write(body)
			})
			begin := time.Now()
			_, err := m.Client().Get().AbsPath(hostilePath).Do(t.Context()).Get()
			wantReason(t, err, fleet.ReasonBadAnswer, `spec.overhead.memory: the quantity "1e-2147483648" would take too long`)
			err = m.Client().Get().AbsPath(hostilePath).Do(t.Context()).Into(&corev1.Pod{})
			wantReason(t, err, fleet.ReasonBadAnswer, "the quantity")
			w, err := m.WatchClient().Get().AbsPath(hostilePath).Param("watch", "true").Watch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			for event := range w.ResultChan() {
				if event.Type != watch.Error {
					t.Errorf("event %s of %v, want an error", event.Type, event.Object)
				}
			}
			if took := time.Since(begin); took > 4*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// eventOf is the event of a watch that an object was added.
func eventOf(t *testing.T, contentType string, object []byte) []byte {
	t.Helper()
	return eventNamed(t, "ADDED", contentType, object)
}

func eventNamed(t *testing.T, name, contentType string, object []byte) []byte {
	t.Helper()
	event := &metav1.WatchEvent{Type: name, Object: apiruntime.RawExtension{Raw: object}}
	if contentType == apiruntime.ContentTypeJSON {
		return framed(contentType, fmt.Appendf(nil, `{"type":%q,"object":%s}`, name, object))
	}
	body, err := event.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return framed(contentType, body)
}

// framed is an event as it comes in a stream.
func framed(contentType string, event []byte) []byte {
	if contentType == apiruntime.ContentTypeJSON {
		return append(event, '\n')
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...)
}

// Who may not be asked in YAML may not answer in it.
func TestAnswerOfAnotherKind(t *testing.T) {
	t.Parallel()
	m := hostile(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		fmt.Fprintf(w, "kind: Pod\napiVersion: v1\nspec: {overhead: {memory: %q}}\n", evil)
	})
	if _, err := m.Client().Get().AbsPath(hostilePath).Do(t.Context()).Get(); err == nil ||
		!strings.Contains(err.Error(), "application/yaml") {
		t.Errorf("error %v, want that nobody reads application/yaml", err)
	}
}

// drip sends so many bytes, and then nothing until the asker gives up.
func drip(bytes int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.CopyN(w, letters{}, bytes)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// wait returns once all peers together hold so many bytes.
func (b *budget) wait(t *testing.T, want int64) {
	t.Helper()
	tick, deadline := time.NewTicker(2*time.Millisecond), time.After(30*time.Second)
	defer tick.Stop()
	for {
		b.mu.Lock()
		held := b.held
		b.mu.Unlock()
		if held == want {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%d bytes are held, want %d", held, want)
		}
	}
}

// Some members send as much as they may, and then no end. Neither the memory of
// others is theirs, nor do others wait for them.
func TestAnswersWithoutEndGiveWay(t *testing.T) {
	t.Parallel()
	o := Options{Timeout: time.Minute, budget: newBudget(2*16<<20, 0)} // 12 MiB in all, 6 of each, 3 of an answer
	_, good := dial(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.CopyN(w, letters{}, 2<<20) }), o)
	refused := make(chan error, 8)
	for range 2 {
		_, evil := dial(t, drip(3<<20), o)
		for range 2 {
			go func() {
				_, err := evil.Client().Get().AbsPath(hostilePath).Do(t.Context()).Raw()
				refused <- err
			}()
		}
	}
	o.budget.wait(t, 2*12<<20)
	begin := time.Now()
	body, err := good.Client().Get().AbsPath(hostilePath).Do(t.Context()).Raw()
	if took := time.Since(begin); len(body) != 2<<20 || err != nil || took > 10*time.Second {
		t.Errorf("%d bytes after %v, error %v; want them all, at once", len(body), took, err)
	}
	wantReason(t, <-refused, fleet.ReasonRateLimited, "this cluster's were the largest")
	o.budget.wait(t, 2*9<<20)
	if len(refused) != 0 {
		t.Error("more answers gave way than there was need for")
	}
}

// An event of a watch holds what has come of it, and one of which nothing has come holds nothing.
func TestEventsWithoutEndGiveWay(t *testing.T) {
	t.Parallel()
	o := Options{Timeout: time.Minute, budget: newBudget(2*16<<20, 0)}
	const begin = `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"`
	ended, all := make(chan int64, 8), int64(0)
	for _, bytes := range []int64{0, 2_300_000, 2_300_000, 2_300_000, 2_300_000, 2_300_000} {
		_, conn := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json;stream=watch")
			if bytes > 0 {
				fmt.Fprint(w, begin)
			}
			drip(bytes)(w, r)
		}), o)
		w, err := conn.WatchClient().Get().AbsPath(hostilePath).Param("watch", "true").Watch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		go func() {
			for range w.ResultChan() {
			}
			ended <- bytes
		}()
		if bytes > 0 {
			all += bytes + int64(len(begin))
		}
	}
	o.budget.wait(t, 2*all)
	_, good := dial(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.CopyN(w, letters{}, 2<<20) }), o)
	for range 3 {
		if body, err := good.Client().Get().AbsPath(hostilePath).Do(t.Context()).Raw(); len(body) != 2<<20 || err != nil {
			t.Fatalf("%d bytes, error %v; want them all", len(body), err)
		}
	}
	if bytes := <-ended; bytes == 0 {
		t.Error("a watch gave way that held nothing")
	}
	o.budget.wait(t, 2*all/5*4)
	if len(ended) > 0 {
		t.Error("more watches gave way than there was need for")
	}
}

// Headers are no part of what is read of an answer.
func TestHeadersWithoutEnd(t *testing.T) {
	t.Parallel()
	handle := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := range 100 {
			w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("a", 1<<10))
		}
		w.WriteHeader(http.StatusOK)
	})
	_, two := dial(t, handle, Options{})
	one := httptest.NewTLSServer(handle) // speaks HTTP/1
	t.Cleanup(one.Close)
	p := NewPeer("east", Options{AllowLocal: true}.WithDefaults(), nil, func(fleet.Reason) {}, nil)
	plain, err := p.Connect(insecure(one))
	if err != nil {
		t.Fatal(err)
	}
	for _, conn := range []*Connection{two, plain} {
		_, err := conn.Client().Get().AbsPath(hostilePath).Do(t.Context()).Raw()
		wantReason(t, err, fleet.ReasonUnreachable, "")
	}
}

// insecure leads to a server whoever that is.
func insecure(s *httptest.Server) registration.Endpoint {
	return registration.Endpoint{Config: &rest.Config{Host: s.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}}
}

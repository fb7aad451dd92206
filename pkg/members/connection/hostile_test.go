// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
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

	"github.com/fleetscale/fleetscale/pkg/fleet"
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
	wantReason(t, err, fleet.ReasonTooLarge, "larger than 1Mi (--max-member-answer)")
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
	event := &metav1.WatchEvent{Type: "ADDED", Object: apiruntime.RawExtension{Raw: object}}
	if contentType == apiruntime.ContentTypeJSON {
		return fmt.Appendf(nil, `{"type":"ADDED","object":%s}`+"\n", object)
	}
	body, err := event.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
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

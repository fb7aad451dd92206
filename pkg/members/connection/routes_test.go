// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// What the clients of a member decode, by the way in which it comes.
var routes = map[string]func(ctx context.Context, c *Connection, accept string) error{
	"an object": func(ctx context.Context, c *Connection, accept string) error {
		_, err := c.Client().Get().AbsPath(hostilePath).SetHeader("Accept", accept).Do(ctx).Get()
		return err
	},
	"an object of a known type": func(ctx context.Context, c *Connection, accept string) error {
		return c.Client().Get().AbsPath(hostilePath).SetHeader("Accept", accept).Do(ctx).Into(&corev1.Pod{})
	},
	"an object of another type": func(ctx context.Context, c *Connection, accept string) error {
		return c.Client().Get().AbsPath(hostilePath).SetHeader("Accept", accept).Do(ctx).Into(&corev1.NodeList{})
	},
	"an answer to a write": func(ctx context.Context, c *Connection, accept string) error {
		return c.Client().Post().AbsPath(hostilePath).SetHeader("Accept", accept).Body([]byte("{}")).Do(ctx).Into(&corev1.Pod{})
	},
	"an answer that lasts": func(ctx context.Context, c *Connection, accept string) error {
		return c.WatchClient().Get().AbsPath(hostilePath).SetHeader("Accept", accept).Do(ctx).Into(&corev1.Pod{})
	},
	"a refusal": func(ctx context.Context, c *Connection, accept string) error {
		return c.Client().Get().AbsPath(hostilePath+"/refused").SetHeader("Accept", accept).Do(ctx).Error()
	},
	"a refusal of a watch": func(ctx context.Context, c *Connection, accept string) error {
		return watched(c.WatchClient().Get().AbsPath(hostilePath+"/refused").SetHeader("Accept", accept).Param("watch", "true").Watch(ctx))
	},
	"an event": func(ctx context.Context, c *Connection, accept string) error {
		return watched(c.WatchClient().Get().AbsPath(hostilePath).SetHeader("Accept", accept).Param("watch", "1").Watch(ctx))
	},
	"an event that names a kind itself": func(ctx context.Context, c *Connection, accept string) error {
		return watched(c.WatchClient().Get().AbsPath(hostilePath+"/bare").SetHeader("Accept", accept).Param("watch", "1").Watch(ctx))
	},
	"a bookmark": func(ctx context.Context, c *Connection, accept string) error {
		return watched(c.WatchClient().Get().AbsPath(hostilePath+"/BOOKMARK").SetHeader("Accept", accept).Param("watch", "1").Watch(ctx))
	},
	"an error event": func(ctx context.Context, c *Connection, accept string) error {
		return watched(c.WatchClient().Get().AbsPath(hostilePath+"/ERROR").SetHeader("Accept", accept).Param("watch", "1").Watch(ctx))
	},
}

func watched(w watch.Interface, err error) error {
	if err != nil {
		return err
	}
	defer w.Stop()
	event, open := <-w.ResultChan()
	if !open {
		return io.EOF
	}
	if status, isStatus := event.Object.(*metav1.Status); isStatus && event.Type == watch.Error {
		return fmt.Errorf("%s", status.Message)
	}
	return fmt.Errorf("an event %s of %T was decoded", event.Type, event.Object)
}

// answerEvil sends the evil Pod on every route, as what the first part of the content type says.
func answerEvil(t *testing.T, contentType, body string) http.HandlerFunc {
	t.Helper()
	pod := evilPod(t, body)
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		last := r.URL.Path[len(hostilePath):]
		switch {
		case last == "/refused":
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write(pod)
		case !isWatch(r):
			_, _ = w.Write(pod)
		case last == "/bare":
			_, _ = w.Write(framed(body, pod))
		case last == "":
			_, _ = w.Write(eventNamed(t, "ADDED", body, pod))
		default:
			_, _ = w.Write(eventNamed(t, last[1:], body, pod))
		}
	}
}

// Whatever format a member was asked for and answers in, and whatever it says that is: nothing is decoded without the guard. What is
// of no format that was asked for is not read.
func TestEveryRouteIsGuarded(t *testing.T) {
	const json, protobuf = apiruntime.ContentTypeJSON, apiruntime.ContentTypeProtobuf
	formats := []string{json, protobuf, json + ";stream=watch", protobuf + ";stream=watch", "application/yaml", "application/cbor",
		"text/plain", "application/cbor-seq", "", "application/apply-patch+yaml", ";;"}
	for _, accept := range []string{protobuf + "," + json, json, protobuf, "*/*"} {
		for _, contentType := range formats {
			for _, body := range []string{json, protobuf} {
				t.Run(accept+" gets "+contentType+" of "+body, func(t *testing.T) {
					t.Parallel()
					_, conn := dial(t, answerEvil(t, contentType, body), Options{})
					for name, ask := range routes {
						ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
						begin := time.Now()
						err := ask(ctx, conn, accept)
						if took := time.Since(begin); err == nil || took > 10*time.Second {
							t.Errorf("%s: %v after %v", name, err, took)
						}
						cancel()
					}
				})
			}
		}
	}
}

func TestFormatsThatWereNotAskedFor(t *testing.T) {
	tests := map[string]struct {
		accept, said string
		refused      bool
		offences     float64
	}{
		"as asked":                    {"application/json", "application/json", false, 0},
		"with a parameter":            {"application/json", "application/json; charset=utf-8", false, 0},
		"the second":                  {acceptMetadata, "application/json", false, 0},
		"JSON for protobuf and JSON":  {"application/vnd.kubernetes.protobuf,application/json", "application/json", false, 0},
		"JSON for protobuf":           {"application/vnd.kubernetes.protobuf", "application/json", true, 1},
		"protobuf for JSON":           {"application/json", "application/vnd.kubernetes.protobuf", true, 1},
		"YAML":                        {"application/json", "application/yaml", true, 1},
		"YAML for anything":           {"*/*", "application/yaml", true, 1},
		"JSON for anything":           {"application/json, */*", "application/json", false, 0},
		"the page of a proxy":         {"application/json", "text/html", true, 0},
		"what is no format":           {"application/json", ";;", true, 1},
		"nothing, which is like JSON": {"application/json", "", false, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := NewPeer("east", Options{}.WithDefaults(), NewMetrics(prometheus.NewRegistry()), func(fleet.Reason) {}, nil)
			req := &http.Request{Header: http.Header{"Accept": {tc.accept}}}
			said := http.Header{"Content-Type": {tc.said}}
			err := p.reading.intake.asked(req, &http.Response{StatusCode: http.StatusOK, Header: said})
			n := testutil.ToFloat64(p.meter.metrics.offences.WithLabelValues("east", "ContentType"))
			if (err != nil) != tc.refused || n != tc.offences {
				t.Errorf("%v, %v offences; want refused: %v, %v", err, n, tc.refused, tc.offences)
			}
			if err != nil {
				wantReason(t, err, fleet.ReasonBadAnswer, "for which it was not asked")
			}
			if err := p.reading.intake.asked(req, &http.Response{StatusCode: http.StatusBadGateway, Header: said}); err != nil {
				t.Errorf("with an error: %v", err)
			}
		})
	}
}

// It is an answer like any other.
func TestRefusalOfAWatchIsBounded(t *testing.T) {
	t.Parallel()
	_, endless := dial(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.Copy(w, letters{})
	}), Options{MaxAnswer: 1 << 20})
	_, err := endless.WatchClient().Get().AbsPath(hostilePath).Param("watch", "1").Watch(t.Context())
	wantReason(t, err, fleet.ReasonTooLarge, "larger than 1Mi")
	_, slow := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		drip(10)(w, r)
	}), Options{Timeout: time.Second})
	begin := time.Now()
	_, err = slow.WatchClient().Get().AbsPath(hostilePath).Param("watch", "1").Watch(t.Context())
	if took := time.Since(begin); err == nil || took > 20*time.Second {
		t.Errorf("%v after %v, want an error within the deadline", err, took)
	}
}

// SPDX-License-Identifier: Apache-2.0

package byzantine

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/wire"
)

// nth is one of the keys, in order, round and round.
func nth(all map[string][]byte, n int) string {
	keys := slices.Sorted(maps.Keys(all))
	return keys[n%len(keys)]
}

// repeated is a list of one item, that many times, or of nothing: an item of two or three bytes.
func repeated(times int, empty bool) func(*Member, http.ResponseWriter, question) {
	var mu sync.Mutex
	made := map[string][]byte{}
	return func(m *Member, w http.ResponseWriter, q question) {
		_, media, ok := q.encoded(1, numbered)
		if !ok {
			m.truly(w, q)
			return
		}
		mu.Lock()
		key := media + q.info.APIGroup + "/" + q.info.Namespace + "/" + q.info.Resource + "/" + q.info.Subresource
		body := made[key]
		if body == nil {
			body = folded(func(w io.Writer) {
				_, _ = w.Write(q.grown(func(item []byte) []byte {
					switch {
					case empty && media == runtime.ContentTypeJSON:
						item = []byte(",{}")
					case empty:
						item = []byte{item[0], 0}
					}
					return bytes.Repeat(item, times)
				}))
			})
			made[key] = body
		}
		mu.Unlock()
		sayFolded(w, media, body)
	}
}

// many are as many items, other ones each time.
func many(items int) func(*Member, http.ResponseWriter, question) {
	var turn atomic.Int64
	return func(m *Member, w http.ResponseWriter, q question) {
		_, media, ok := q.encoded(1, numbered)
		if !ok {
			m.truly(w, q)
			return
		}
		n := turn.Add(1)
		say(w, media, q.grown(func(item []byte) (all []byte) {
			for i := range items {
				all = append(all, bytes.ReplaceAll(item, []byte(place), fmt.Appendf(nil, "%02x%06x", n%256, i))...)
			}
			return all
		}))
	}
}

// place is where a name is to stand that is as long.
const place = "NAMENAME"

// grown is a list with one item whose name is place, and with what more makes of another one as it is encoded: with the comma
// before it, or the number of its field. That costs less than to make objects.
func (q question) grown(more func(item []byte) []byte) []byte {
	of := func(items int) []byte {
		body, _, _ := q.encoded(items, func(int) string { return place })
		return body
	}
	one, two := of(1), of(2)
	if !bytes.HasPrefix(one, []byte(wire.Magic)) {
		const end = "]}\n"
		before := bytes.TrimSuffix(one, []byte(end))
		return append(append(before, more(two[len(before):len(two)-len(end)])...), end...)
	}
	whole := unwrapped(one)
	whole.Raw = append(whole.Raw, more(unwrapped(two).Raw[len(whole.Raw):])...)
	return memberstest.Envelope(*whole)
}

func unwrapped(body []byte) *runtime.Unknown {
	whole := &runtime.Unknown{}
	if err := whole.Unmarshal(bytes.TrimPrefix(body, []byte(wire.Magic))); err != nil {
		panic(err) // it was encoded here
	}
	return whole
}

// manyMetrics is a discovery with that many metrics.
func manyMetrics(metrics int) func(*Member, http.ResponseWriter, question) {
	var once sync.Once
	var made map[string][]byte
	return func(m *Member, w http.ResponseWriter, q question) {
		once.Do(func() {
			made = map[string][]byte{}
			for path, format := range map[string]string{
				"/apis/custom.metrics.k8s.io/v1beta2":   `{"name":"pods/m-%d","namespaced":true,"kind":"MetricValueList","verbs":["get"]}`,
				"/apis/external.metrics.k8s.io/v1beta1": `{"name":"m-%d","namespaced":true,"kind":"ExternalMetricValueList","verbs":["get"]}`,
			} {
				made[path] = folded(func(w io.Writer) { writeMetrics(w, strings.TrimPrefix(path, "/apis/"), format, metrics) })
			}
		})
		if body := made[q.info.Path]; body != nil {
			sayFolded(w, runtime.ContentTypeJSON, body)
			return
		}
		m.truly(w, q)
	}
}

func writeMetrics(w io.Writer, version, format string, metrics int) {
	fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":%q,"resources":[`, version)
	for i := range metrics {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, format, i)
	}
	fmt.Fprint(w, "]}")
}

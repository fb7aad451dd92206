// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

func TestLength(t *testing.T) {
	type page struct {
		from, next     string
		objects, bytes int
	}
	many := func(n int, p page) []page {
		pages := make([]page, n)
		for i := range pages {
			pages[i] = p
			pages[i].from, pages[i].next = "c"+strconv.Itoa(i), "c"+strconv.Itoa(i+1)
		}
		pages[0].from = ""
		return pages
	}
	tests := map[string]struct {
		pages []page
		want  error
	}{
		"one page":                     {[]page{{objects: 3, bytes: 100}}, nil},
		"a page without objects":       {[]page{{next: "a"}, {from: "a", objects: 1}}, nil},
		"as long as may be":            {append(many(1_999, page{objects: 250, bytes: 500_000}), page{from: "c1999", objects: 250}), nil},
		"one page more":                {many(2_000, page{}), errEndless},
		"one object too many":          {append(many(1_000, page{objects: 500}), page{from: "c1000", objects: 1}), errEndless},
		"one byte too many":            {append(many(8, page{bytes: 128 << 20}), page{from: "c8", bytes: 1}), errEndless},
		"where it began":               {[]page{{next: "a"}, {from: "a", next: "a"}}, errRepeats},
		"a list after one of the same": {append(many(1_999, page{objects: 250}), many(1_999, page{objects: 250})...), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var l length
			for i, p := range tc.pages {
				err := l.add(p.from, p.next, p.objects, p.bytes)
				if last := i == len(tc.pages)-1; err != nil && !last || last && !errors.Is(err, tc.want) {
					t.Fatalf("page %d: error %v, want %v of the last", i, err, tc.want)
				}
			}
		})
	}
}

func TestListWithoutEnd(t *testing.T) {
	tests := map[string]struct {
		next   func(page int) string
		want   string
		lists  int
		reason fleet.Reason
	}{
		"that never ends":           {strconv.Itoa, "unknown TooLarge", mostPages, fleet.ReasonTooLarge},
		"that goes round in circle": {func(int) string { return "again" }, "unknown BadAnswer", 2, fleet.ReasonBadAnswer},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east, west, page := newFakeMember("east"), newFakeMember("west", "shop/a"), 0
				east.Handle = func(*http.Request) (*http.Response, error) {
					page++
					return memberstest.Respond(http.StatusOK, runtime.ContentTypeJSON,
						fmt.Appendf(nil, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":%q},`+
							`"items":[{"metadata":{"namespace":"shop","name":"c%d"}}]}`, tc.next(page), page)), nil
				}
				r := start(t)
				r.expect(east, "shop", tc.want)
				r.expect(west, "shop", "shop/a=0")
				if got := len(east.asked()); got != tc.lists {
					t.Errorf("%d pages were read before it was given up, want %d", got, tc.lists)
				}
			})
		})
	}
}

const evil = "1e-2147483648"

// podsWith is a list of Pods of which one has a memory that is this.
func podsWith(t testing.TB, contentType, memory string) []byte {
	t.Helper()
	stand := resource.MustParse("1234567890123") // as long as the evil one
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), contentType)
	list, err := runtime.Encode(info.Serializer, &corev1.PodList{
		TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: metav1.ListMeta{ResourceVersion: "1000"},
		Items: []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"memory": stand}}},
		}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(list, []byte(stand.String()), []byte(memory))
}

// Over real connections: lists and events pass what the members' clients decode.
func TestQuantityThatTakesForEver(t *testing.T) {
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		t.Run(contentType, func(t *testing.T) {
			t.Parallel()
			east := serve(t, newFakeMember("east"))
			east.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case !strings.HasSuffix(r.URL.Path, "/pods"):
					east.ServeHTTP(w, r)
				case r.URL.Query().Get("watch") == "true":
					w.Header().Set("Content-Type", runtime.ContentTypeJSON+";stream=watch")
					fmt.Fprintf(w, `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","spec":{"overhead":{"memory":%q}}}}`, evil)
				default:
					list := podsWith(t, contentType, evil)
					if strings.Contains(r.URL.Path, "/good/") {
						list = bytes.ReplaceAll(podsWith(t, contentType, "1234567890123"), []byte("shop"), []byte("good"))
					}
					w.Header().Set("Content-Type", contentType)
					_, _ = w.Write(list)
				}
			})
			h := memberstest.NewHub(t)
			h.Put(t, east.secret(t))
			m := theMember(t, registry(t, h), nil)
			r := New(Options[*corev1.Pod, *thing]{
				Resource: corev1.SchemeGroupVersion.WithResource("pods"),
				Keep:     func(p *corev1.Pod) *thing { return &thing{Key{p.Namespace, p.Name}, p.Name} },
			})
			go func() { _ = r.Run(t.Context()) }()
			begin := time.Now()
			for _, namespace := range []string{"shop", "other", "third", "fourth"} { // more than one member may read at once
				a := r.Ask(t.Context(), m, namespace)
				if a.Known || a.Silence == nil || a.Silence.Reason != fleet.ReasonBadAnswer || !strings.Contains(a.Silence.Detail, evil) {
					t.Errorf("%s: known %v, %v; want BadAnswer with the quantity", namespace, a.Known, a.Silence)
				}
			}
			if a := r.Ask(t.Context(), m, "good"); !a.Known || len(a.Objects) != 1 {
				t.Errorf("good: known %v, %d objects, %v; want the one of the list, whatever comes after it", a.Known, len(a.Objects), a.Silence)
			}
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// What one member sends must not end the program, nor be missed: it is read again, and said.
func TestObjectOverWhichWePanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := newFakeMember("east", "shop/a"), newFakeMember("west", "shop/a")
		r := start(t, func(o *Options[*corev1.ConfigMap, *thing]) {
			o.Keep = func(c *corev1.ConfigMap) *thing {
				if c.Data["value"] == "evil" {
					panic("over what it holds")
				}
				return keepThing(c)
			}
		})
		r.expect(east, "shop", "shop/a=0")
		r.expect(west, "shop", "shop/a=0")
		east.put("shop/a", "evil") // as an event, and then in a list
		time.Sleep(time.Minute)
		r.expect(east, "shop", "shop/a=0 BadAnswer")
		r.expect(west, "shop", "shop/a=0")
		east.put("shop/a", "1")
		time.Sleep(time.Minute)
		r.expect(east, "shop", "shop/a=1")
	})
}

// A member is asked for the objects of one namespace, and says what it likes.
func TestObjectsThatNobodyAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := newFakeMember("east")
		reader, events := io.Pipe()
		east.Handle = func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("watch") != "" {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {runtime.ContentTypeJSON}}, Body: reader}, nil
			}
			items := ""
			for _, name := range []string{"shop/a", "bank/a", "shop/a", "/c", "shop/", "shop/b"} {
				namespace, name, _ := strings.Cut(name, "/")
				items += fmt.Sprintf(`,{"metadata":{"namespace":%q,"name":%q},"data":{"value":"0"}}`, namespace, name)
			}
			return memberstest.Respond(http.StatusOK, runtime.ContentTypeJSON, fmt.Appendf(nil,
				`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1000"},"items":[%s]}`, items[1:])), nil
		}
		reg := prometheus.NewRegistry()
		east.Counted(reg)
		r := start(t)
		r.expect(east, "shop", "shop/a=0 shop/b=0")
		for _, event := range []string{"ADDED bank/z", "ADDED shop/z", "MODIFIED bank/a", "MODIFIED shop/a"} {
			kind, name, _ := strings.Cut(event, " ")
			namespace, name, _ := strings.Cut(name, "/")
			fmt.Fprintf(events, `{"type":%q,"object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":%q,"name":%q,`+
				`"resourceVersion":"1001"},"data":{"value":"1"}}}`+"\n", kind, namespace, name)
		}
		synctest.Wait()
		r.expect(east, "shop", "shop/a=1 shop/b=0 shop/z=1")
		events.Close()
		if n := memberstest.Dropped(t, reg, "configmaps"); n != 4+2 {
			t.Errorf("%v count as dropped, want 4 of the list and 2 of the watch", n)
		}
	})
}

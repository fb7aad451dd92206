// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// FuzzAnswers holds every byte and header of an answer to that which the API
// server's library makes of objects.
func FuzzAnswers(f *testing.F) {
	seeds := uint64(20) // plain `go test` runs these; -fuzz continues from them
	if testing.Short() {
		seeds = 1 // some two hundred comparisons
	}
	for seed := range seeds {
		f.Add(seed)
	}
	away := &fakeMember{name: "south", silence: &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer within the deadline"}}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 0))
		h := newHub(t, "", oddMember(random, "east"), oddMember(random, "nörd"), away, oddMember(random, "west"))
		h.adapter.budget = newBudget(1 << 30)
		for _, form := range []string{"application/json", "application/vnd.kubernetes.protobuf",
			"application/vnd.kubernetes.protobuf;q=0.9,application/json", "*/*"} {
			h.compare("v1beta1/pods", form, "identity")
			h.compare("v1beta1/pods", form, "gzip")
			h.compare("v1/pods", form, "identity")
			h.compare("v1/pods"+query("labelSelector", "!zone,fleetscale.io/cluster=west"), form, "identity")
			h.compare("v1beta1/pods"+query("fieldSelector", "metadata.name=web-1"), form, "identity")
			for i := range oddNamespaces + 1 { // nobody has the last
				h.compare(fmt.Sprintf("v1beta1/namespaces/shop-%d/pods", i), form, "identity")
			}
		}
		h.compare("v1beta1/pods", "application/yaml", "identity")
		h.compare("v1beta1/pods", "application/json;pretty=1", "identity")
		h.compare("v1beta1/pods?pretty=true", "application/json", "identity")
	})
}

// compare asks twice: the second time with a parameter that means nothing to
// anybody, but has an "as" in it, for which objects are made.
func (h *hub) compare(path, form, encoding string) {
	h.t.Helper()
	got := h.get(path, "Accept: "+form, "Accept-Encoding: "+encoding)
	objects := strings.TrimSuffix(strings.ReplaceAll(form+",", ",", ";ordinary=as,"), ",")
	want := h.get(path, "Accept: "+objects, "Accept-Encoding: "+encoding)
	if at, same := firstDifference(got, want); !same {
		h.t.Errorf("GET %s as %s, %s: byte %d: %s\nwant %s", path, form, encoding, at, around(got, at), around(want, at))
	}
	got.Header().Del("Audit-Id")
	want.Header().Del("Audit-Id")
	fleettest.Same(h.t, fmt.Sprintf("GET %s as %s, %s: header", path, form, encoding), want.Header(), got.Header())
}

func firstDifference(got, want *httptest.ResponseRecorder) (at int, same bool) {
	a, b := got.Body.Bytes(), want.Body.Bytes()
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return at, got.Code == want.Code && at == len(a) && at == len(b)
}

func around(r *httptest.ResponseRecorder, at int) string {
	body := r.Body.Bytes()
	return fmt.Sprintf("%d %q", r.Code, body[max(0, at-100):min(len(body), at+100)])
}

const oddNamespaces = 6

// oddMember has many pods, of which few are as pods are: some namespaces have
// one or none, and many names are in other clusters too.
func oddMember(random *rand.Rand, name string) *fakeMember {
	m := &fakeMember{name: name}
	for i := range oddNamespaces {
		for range random.IntN(1+i*i) * 2 {
			m.pods = append(m.pods, oddPod(random, fmt.Sprintf("shop-%d", i)))
		}
	}
	return m
}

func oddPod(random *rand.Rand, namespace string) metricsv1beta1.PodMetrics {
	p := metricsv1beta1.PodMetrics{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("web-%d", random.IntN(100)), Labels: map[string]string{}},
		Timestamp:  metav1.NewTime(time.Unix(random.Int64N(4e9)-1e9, random.Int64N(1e9))),
		Window: metav1.Duration{Duration: pick(random, 0, 15*time.Second, time.Minute, 1500*time.Microsecond, -time.Hour,
			time.Duration(random.Int64()))},
	}
	if random.IntN(20) == 0 {
		p.Name, p.Timestamp = oddText(random), metav1.Time{}
	}
	for range random.IntN(6) {
		key := pick(random, "app", "apps.kubernetes.io/pod-index", "fleetscale.io/cluster", "fleetscale.io/a", "fleetscale.io/d", "zone",
			oddText(random))
		p.Labels[key] = pick(random, "web", "", p.Name, oddText(random))
	}
	for range random.IntN(4) {
		c := metricsv1beta1.ContainerMetrics{Name: pick(random, "app", "proxy", oddText(random)), Usage: corev1.ResourceList{}}
		for range random.IntN(4) {
			c.Usage[pick(random, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceName(oddText(random)))] = oddQuantity(random)
		}
		p.Containers = append(p.Containers, c)
	}
	return p
}

func oddText(random *rand.Rand) string {
	return strings.Repeat(pick(random, "a", `"`, `\`, "<", ">", "&", "é", "\u2028", "\x01\n\t\x7f", "日本", "👩‍🚀", "web-1."),
		random.IntN(40)*random.IntN(10))
}

func oddQuantity(random *rand.Rand) resource.Quantity {
	value := pick(random, 0, 1, -1, 1000, 1024, 1<<20, 1<<20+1, math.MaxInt64, math.MinInt64, random.Int64(), random.Int64N(1e9),
		random.Int64N(1e6)*1024)
	q := *resource.NewScaledQuantity(value, pick(random, resource.Nano, resource.Micro, resource.Milli, 0, resource.Kilo, resource.Exa))
	q.Format = pick(random, resource.DecimalSI, resource.BinarySI, resource.DecimalExponent)
	return q
}

func pick[T any](random *rand.Rand, of ...T) T { return of[random.IntN(len(of))] }

func TestMetadataAlone(t *testing.T) {
	const path = "v1beta1/namespaces/shop/pods"
	h := twoClusters(t)
	r := h.get(path, "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
	if diff := cmp.Diff(items(t, h.get(path)), items(t, r)); diff != "" ||
		!strings.Contains(r.Body.String(), `"kind":"PartialObjectMetadataList"`) {
		t.Errorf("GET %s: %s (-want +got):\n%s", path, r.Body, diff)
	}
}

func TestFormThatNeedsObjectsIsRefusedWhereRecordsFit(t *testing.T) {
	h := twoClusters(t)
	held := &conversation{budget: h.adapter.budget}
	if err := held.hold(1<<20-3*bytesPerRecord, 1); err != nil {
		t.Fatal(err)
	}
	for form, code := range map[string]int{"application/json": http.StatusOK, "application/yaml": http.StatusTooManyRequests} {
		if r := h.get("v1beta1/namespaces/shop/pods", "Accept: "+form); r.Code != code {
			t.Errorf("%s: %d, want %d: %s", form, r.Code, code, r.Body)
		}
	}
}

func TestSingleAnswerIsAlwaysPossible(t *testing.T) {
	h := twoClusters(t)
	h.adapter.budget = newBudget(1)
	for _, form := range []string{"application/json", "application/yaml", asTable} {
		if r := h.get("v1beta1/namespaces/shop/pods", "Accept: "+form); r.Code != http.StatusOK {
			t.Errorf("%s: %d: %s", form, r.Code, r.Body)
		}
	}
}

// FuzzOrder holds the merging of what clusters have to a plain sort.
func FuzzOrder(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, clusters uint8) {
		random := rand.New(rand.NewPCG(seed, 0))
		var members []*fakeMember
		var want [][]string
		for i := range 1 + clusters%20 {
			m := &fakeMember{name: fmt.Sprintf("member-%d", i)}
			for range random.IntN(20) {
				p := pod(pick(random, "bank", "shop"), fmt.Sprintf("web-%d", random.IntN(15)), "web")
				m.pods = append(m.pods, p) // of one name, the first counts
				want = append(want, []string{p.Namespace, p.Name, m.name})
			}
			members = append(members, m)
		}
		slices.SortFunc(want, slices.Compare)
		want = slices.CompactFunc(want, slices.Equal)
		got := items(t, newHub(t, "", members...).get("v1beta1/pods"))
		for i := range want {
			if one := want[i][2] + "/" + want[i][0] + "/" + want[i][1]; i >= len(got) || got[i] != one {
				t.Fatalf("item %d of %d is not %s: %q", i, len(want), one, got)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d items, want %d", len(got), len(want))
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsscheme "k8s.io/metrics/pkg/client/clientset/versioned/scheme"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/wire"
)

// measured is an item of two containers, each with as many milli and MiB.
func measured(cluster, name string, milli int64) metricsv1beta1.PodMetrics {
	container := func(name string, milli int64) metricsv1beta1.ContainerMetrics {
		return metricsv1beta1.ContainerMetrics{Name: name, Usage: corev1.ResourceList{
			"cpu": *resource.NewMilliQuantity(milli, resource.DecimalSI), "memory": *resource.NewQuantity(milli<<20, resource.BinarySI),
			"nvidia.com/gpu": resource.MustParse("1"),
		}}
	}
	p := metricsv1beta1.PodMetrics{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"}, Timestamp: metav1.NewTime(noon),
		Window:     metav1.Duration{Duration: 15 * time.Second},
		Containers: []metricsv1beta1.ContainerMetrics{container("proxy", 1), container("app", milli)},
	}
	if cluster != "" {
		p.Labels = map[string]string{fleet.ClusterLabel: cluster}
	}
	return p
}

func usesOf(name string, milli int64) PodUses {
	return PodUses{Name: name, Measured: noon, Window: 15 * time.Second, Containers: []ContainerUse{
		{Name: "app", MilliCPU: milli, Memory: milli << 20}, {Name: "proxy", MilliCPU: 1, Memory: 1 << 20},
	}}
}

func TestUses(t *testing.T) {
	silent := func(cluster, reason, detail string) ClusterUses {
		return ClusterUses{Cluster: cluster, Outcome: Silent, Silence: &fleet.Silence{Reason: fleet.Reason(reason), Detail: detail}}
	}
	answered := func(cluster string, pods ...PodUses) ClusterUses {
		return ClusterUses{Cluster: cluster, Outcome: Answered, Pods: pods}
	}
	list := func(items ...metricsv1beta1.PodMetrics) runtime.Object {
		return &metricsv1beta1.PodMetricsList{Items: items}
	}
	failure := func(code int, reason metav1.StatusReason, message, coverage string) *said {
		s := asStatus(code, reason, message)
		if coverage != "" {
			s.coverage = []string{coverage}
		}
		return &s
	}
	tests := map[string]struct {
		list     runtime.Object
		says     *said // instead of a list
		coverage []string
		clusters []string
		want     []ClusterUses
		err      string
	}{
		"all in order, whatever the order of the answer and of the question": {
			list:     list(measured("west", "b", 5), measured("east", "z", 1), measured("west", "a", 7), measured("east", "b", 2)),
			coverage: []string{"answered=east,west"}, clusters: []string{"west", "east", "west"},
			want: []ClusterUses{answered("east", usesOf("b", 2), usesOf("z", 1)), answered("west", usesOf("a", 7), usesOf("b", 5))},
		},
		"no Pods are no error": {
			list: list(), coverage: []string{"answered=east"}, clusters: []string{"east"}, want: []ClusterUses{answered("east")},
		},
		"each cluster has its outcome": {
			list:     list(measured("east", "a", 1)),
			coverage: []string{"answered=east,north;absent=north;silent=west:Timeout"}, clusters: []string{"east", "north", "south", "west"},
			want: []ClusterUses{answered("east", usesOf("a", 1)), {Cluster: "north", Outcome: Absent}, {Cluster: "south", Outcome: Missing},
				silent("west", "Timeout", "")},
		},
		"Pods of clusters that did not answer, or that are not asked about, are left out": {
			list:     list(measured("east", "a", 1), measured("west", "a", 2), measured("north", "a", 3)),
			coverage: []string{"answered=north;silent=west:Stale"}, clusters: []string{"east", "west"},
			want: []ClusterUses{{Cluster: "east", Outcome: Missing}, silent("west", "Stale", "")},
		},
		"what a server without a fleet says is the whole": {
			list: list(measured("", "a", 1)), clusters: []string{"east"}, want: []ClusterUses{answered("east", usesOf("a", 1))},
		},
		"a Pod that could be of two clusters is of none": {
			list: list(measured("", "a", 1), measured("east", "b", 2)), clusters: []string{"east", "west"},
			want: []ClusterUses{answered("east", usesOf("b", 2)), answered("west")},
		},
		"what every cluster refuses, with the reason of each": {
			says:     failure(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "nobody", "silent=east:Forbidden"),
			clusters: []string{"east", "west"},
			want:     []ClusterUses{silent("east", "Forbidden", ""), silent("west", "ServerError", "nobody")},
			err:      "unable to fetch metrics from resource metrics API: nobody",
		},
		"an API that nobody serves": {
			says: failure(http.StatusNotFound, metav1.StatusReasonNotFound, "no such API", ""), clusters: []string{"east"},
			want: []ClusterUses{{Cluster: "east", Outcome: Absent}}, err: "no such API",
		},
		"an answer that cannot be read": {
			says: &said{kind: runtime.ContentTypeJSON, body: []byte("{")}, clusters: []string{"east"},
			want: []ClusterUses{silent("east", "BadAnswer", "couldn't get version/kind; json parse error: unexpected end of JSON input")},
			err:  "unexpected end of JSON input",
		},
		"an answer whose coverage cannot be read": {
			list: list(measured("east", "a", 1)), coverage: []string{"answered"}, clusters: []string{"east"},
			want: []ClusterUses{silent("east", "BadAnswer", `parsing coverage "answered": "answered" is not of the form key=name,…`)},
			err:  "parsing coverage",
		},
		"a quantity that takes forever to read": {
			says: &said{kind: runtime.ContentTypeJSON, body: []byte(`{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1",` +
				`"items":[{"containers":[{"usage":{"memory":"1e-2147483648"}}]}]}`)},
			clusters: []string{}, want: []ClusterUses{}, err: "items[0].containers[0].usage.memory",
		},
	}
	for name, tc := range tests {
		for _, kind := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
			t.Run(name+", "+kind, func(t *testing.T) {
				answer := said{kind: kind, coverage: tc.coverage}
				if tc.says != nil {
					answer = *tc.says
				} else {
					answer.body = encode(t, metricsscheme.Scheme, kind, tc.list)
				}
				hub := newHub(map[string]said{podMetricsPath: answer})
				got, err := hub.client(t).Uses(t.Context(), question(cpu(), tc.clusters...))
				fleettest.Same(t, "Uses()", tc.want, got)
				if (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error %v, want %q", err, tc.err)
				}
				fleettest.Same(t, "asked", []string{podMetricsPath + "?labelSelector=app%3Dweb"}, hub.questions())
			})
		}
	}
}

func TestUsesOfContainers(t *testing.T) {
	tests := map[string]struct {
		containers string
		want       []ContainerUse
	}{
		"none":                         {``, nil},
		"fractions of milli are whole": {`{"name":"app","usage":{"cpu":"1500001n","memory":"1"}}`, []ContainerUse{{"app", 2, 1}}},
		"nothing":                      {`{"name":"app","usage":{"cpu":"0","memory":"0"}}`, []ContainerUse{{"app", 0, 0}}},
		"one that lacks memory":        {`{"name":"app","usage":{"cpu":"1"}}`, []ContainerUse{{"app", 1000, None}}},
		"one that lacks all":           {`{"name":"app"}`, []ContainerUse{{"app", None, None}}},
		"less than nothing":            {`{"name":"app","usage":{"cpu":"-5","memory":"-5"}}`, []ContainerUse{{"app", None, None}}},
		"the most that may be":         {`{"name":"app","usage":{"cpu":"1Pi","memory":"1Pi"}}`, []ContainerUse{{"app", 1000 << 50, 1 << 50}}},
		"more than may be": {`{"name":"app","usage":{"cpu":"1125899906842624001m","memory":"1e999"}}`,
			[]ContainerUse{{"app", None, None}}},
		"two of a name: the first": {`{"name":"b"},{"name":"a","usage":{"cpu":"1"}},{"name":"a"}`,
			[]ContainerUse{{"a", 1000, None}, {"b", None, None}}},
		"other resources are left out": {`{"name":"app","usage":{"nvidia.com/gpu":"1"}}`, []ContainerUse{{"app", None, None}}},
		"one without a name":           {`{"usage":{"memory":"64Mi"}}`, []ContainerUse{{"", None, 64 << 20}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			hub := newHub(map[string]said{podMetricsPath: asJSON(`{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[
 {"metadata":{"name":"before"},"containers":[{"name":"x"}]},
 {"metadata":{"name":"web-0"},"containers":[` + tc.containers + `]},
 {"metadata":{"name":"x-after"},"containers":[{"name":"x"}]}]}`)})
			got, err := hub.client(t).Uses(t.Context(), question(cpu(), "east"))
			if err != nil {
				t.Fatal(err)
			}
			x := []ContainerUse{{"x", None, None}}
			want := []PodUses{{Name: "before", Containers: x}, {Name: "web-0", Containers: tc.want}, {Name: "x-after", Containers: x}}
			if len(tc.want) == 0 {
				want[1].Containers = []ContainerUse{}
			}
			fleettest.Same(t, "Pods", want, got[0].Pods)
		})
	}
}

// The containers of one Pod lie beside those of another: who appends to them must not write there.
func TestContainersOfPodsAreApart(t *testing.T) {
	var list usesList
	list.decoded(&metricsv1beta1.PodMetricsList{Items: []metricsv1beta1.PodMetrics{measured("", "a", 1), measured("", "b", 2)}})
	_ = append(list.containersOf(0), ContainerUse{Name: "x"})
	fleettest.Same(t, "the next Pod's", usesOf("b", 2).Containers, list.containersOf(1))
}

// allOf are all Pods of a list, as they were read.
func allOf(l *usesList) []PodUses {
	var all []PodUses
	for i := range l.pods {
		p := &l.pods[i]
		all = append(all, PodUses{
			Name: p.cluster() + "/" + p.name, Measured: p.at.Time, Window: p.window.Duration, Containers: l.containersOf(i),
		})
	}
	return all
}

func decodedUses(list *metricsv1beta1.PodMetricsList) []PodUses {
	var l usesList
	l.decoded(list)
	return allOf(&l)
}

// TestUsesAreSkimmed: no list that a server writes is beyond skimming, and what is read is what objects hold.
func TestUsesAreSkimmed(t *testing.T) {
	for seed := range uint64(500) {
		list := randomList(rand.New(rand.NewPCG(seed, 2)))
		var got usesList
		ok := got.skim(encode(t, metricsscheme.Scheme, runtime.ContentTypeProtobuf, list))
		if diff := cmp.Diff(decodedUses(list), allOf(&got)); !ok || diff != "" {
			t.Fatalf("seed %d: skimmed %v (-decoded +skimmed):\n%s", seed, ok, diff)
		}
	}
}

// rawList are items in protobuf, as a list in its envelope.
func rawList(t *testing.T, items ...[]byte) []byte {
	t.Helper()
	var raw []byte
	for _, one := range items {
		raw = append(raw, item(one...)...)
	}
	return []byte(envelope(t, runtime.Unknown{Raw: raw}))
}

// What was read before it turned out that a list cannot be skimmed is not read twice.
func TestUsesBeginAnew(t *testing.T) {
	list := &metricsv1beta1.PodMetricsList{Items: []metricsv1beta1.PodMetrics{measured("", "a", 1)}}
	list.Items[0].Containers = list.Items[0].Containers[:1]
	good, err := list.Items[0].Marshal()
	if err != nil || len(good) > 127 {
		t.Fatal(len(good), err)
	}
	var l usesList
	if l.skim(rawList(t, good, []byte{1 << 3, 1})) || len(l.pods) != 1 {
		t.Fatalf("an item with a number is skimmed, or the one before it is not: %+v", l)
	}
	l.decoded(list)
	if diff := cmp.Diff(decodedUses(list), allOf(&l)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// An entry of usage may lack its value, which is nothing then, and not that of the one before.
func TestUsesOfNothing(t *testing.T) {
	cpu, memory := "\x0a\x03cpu\x12\x03\x0a\x011", "\x0a\x06memory"
	container := "\x12" + string(rune(len(cpu))) + cpu + "\x12" + string(rune(len(memory))) + memory
	var l usesList
	if !l.skim(rawList(t, append([]byte{4<<3 | 2, byte(len(container))}, container...))) {
		t.Fatal("it is not skimmed")
	}
	fleettest.Same(t, "containers", []ContainerUse{{"", 1000, 0}}, l.containers)
}

// Names beyond those that are searched are right all the same.
func TestManyNamesOfContainers(t *testing.T) {
	list := &metricsv1beta1.PodMetricsList{}
	for i := range 3 * mostNames {
		name := "c" + strconv.Itoa(i)
		list.Items = append(list.Items, metricsv1beta1.PodMetrics{Containers: []metricsv1beta1.ContainerMetrics{{Name: name}, {Name: "c1"}}})
	}
	var l usesList
	if !l.skim(encode(t, metricsscheme.Scheme, runtime.ContentTypeProtobuf, list)) || len(l.names) != mostNames {
		t.Errorf("%d names are kept", len(l.names))
	}
	if diff := cmp.Diff(decodedUses(list), allOf(&l)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// FuzzUses: what can be decoded is skimmed as it is decoded, or not at all.
func FuzzUses(f *testing.F) {
	for seed := range uint64(500) {
		d := rand.New(rand.NewPCG(seed, 3))
		list, err := randomList(d).Marshal()
		if err != nil {
			f.Fatal(err)
		}
		for range d.IntN(3) {
			list[d.IntN(len(list))] ^= 1 << d.IntN(8)
		}
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var list metricsv1beta1.PodMetricsList
		unreadable := list.Unmarshal(raw)
		u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "metrics.k8s.io/v1beta1", Kind: "PodMetricsList"}, Raw: raw}
		body, err := u.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		var got usesList
		if !got.skim(append([]byte(wire.Magic), body...)) || unreadable != nil {
			return
		}
		if diff := cmp.Diff(decodedUses(&list), allOf(&got)); diff != "" {
			t.Errorf("-decoded +skimmed:\n%s", diff)
		}
	})
}

// BenchmarkUses reads the list of BenchmarkSkim.
func BenchmarkUses(b *testing.B) {
	body := largeList(b)
	b.ReportAllocs()
	for b.Loop() {
		var l usesList
		if !l.skim(body) || len(l.containers) != 4_000 {
			b.Fatalf("%d containers", len(l.containers))
		}
	}
}

// BenchmarkAskUses is a question for what the same Pods use, there and back.
func BenchmarkAskUses(b *testing.B) {
	client := newHub(map[string]said{podMetricsPath: {
		kind: runtime.ContentTypeProtobuf, body: largeList(b), coverage: []string{"answered=east"},
	}}).client(b)
	b.ReportAllocs()
	for b.Loop() {
		uses, err := client.Uses(b.Context(), question(cpu(), "east"))
		if err != nil || len(uses[0].Pods) != 2_000 {
			b.Fatalf("%v, %v", uses, err)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/klog/v2"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	custominstall "k8s.io/metrics/pkg/apis/custom_metrics/install"
	"k8s.io/metrics/pkg/apis/external_metrics"
	externalinstall "k8s.io/metrics/pkg/apis/external_metrics/install"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/members/memory"
)

// fakeMember is an API server, with both APIs, without a network.
type fakeMember struct {
	*memberstest.Member

	versions map[string][]string             // by group; a group without versions is not served
	listed   map[string][]metav1.APIResource // by group
	objects  []custom_metrics.MetricValue    // of metric Metric.Name; what namespace and resource are asked does not matter
	series   []external_metrics.ExternalMetricValue
	values   memberstest.Handler // in place of values
	since    time.Time
	hub      bool
}

var _ Source = (*fakeMember)(nil)

func newFakeMember(name string) *fakeMember {
	m := &fakeMember{
		versions: map[string][]string{customGroup: {"v1beta1", "v1beta2"}, externalGroup: {"v1beta1"}},
		listed: map[string][]metav1.APIResource{
			customGroup:   {{Name: "pods/rps", Namespaced: true}, {Name: "namespaces/rps"}},
			externalGroup: {{Name: "queue", Namespaced: true}},
		},
		objects: []custom_metrics.MetricValue{object("web-0", "5")},
		series:  []external_metrics.ExternalMetricValue{oneSeries("a", "7")},
	}
	m.Member = memberstest.New(name, m.serve)
	return m
}

func object(name, value string) custom_metrics.MetricValue {
	return custom_metrics.MetricValue{
		DescribedObject: custom_metrics.ObjectReference{Kind: "Pod", Namespace: "shop", Name: name, APIVersion: "/v1"},
		Metric: custom_metrics.MetricIdentifier{Name: "rps",
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"code": "200"}}},
		Timestamp:     metav1.NewTime(time.Unix(1_700_000_000, 0)),
		WindowSeconds: new(int64(60)),
		Value:         resource.MustParse(value),
	}
}

func oneSeries(queue, value string) external_metrics.ExternalMetricValue {
	return external_metrics.ExternalMetricValue{
		MetricName: "queue", MetricLabels: map[string]string{"queue": queue},
		Timestamp: metav1.NewTime(time.Unix(1_700_000_000, 0)), Value: resource.MustParse(value),
	}
}

func (m *fakeMember) State() member.State {
	m.Lock()
	defer m.Unlock()
	return member.State{Ready: m.Silent == nil, Since: m.since}
}

func (m *fakeMember) IsHub() bool {
	m.Lock()
	defer m.Unlock()
	return m.hub
}

func (m *fakeMember) serve(r *http.Request) (*http.Response, error) {
	m.Lock()
	values := m.values
	m.Unlock()
	if values != nil && strings.Count(r.URL.Path, "/") > 3 {
		return values(r)
	}
	return m.answer(r), nil
}

// answer returns what an API server says that has the metrics rps and queue.
func (m *fakeMember) answer(r *http.Request) *http.Response {
	m.Lock()
	defer m.Unlock()
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/apis/"), "/")
	group := path[0]
	versions := m.versions[group]
	if len(versions) == 0 {
		return pageNotFound()
	}
	if len(path) == 1 {
		doc := metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: group}
		for _, v := range versions {
			doc.Versions = append(doc.Versions, metav1.GroupVersionForDiscovery{GroupVersion: group + "/" + v, Version: v})
		}
		return memberstest.JSON(http.StatusOK, doc)
	}
	if !slices.Contains(versions, path[1]) {
		return pageNotFound()
	}
	if len(path) == 2 {
		return memberstest.JSON(http.StatusOK, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, APIResources: m.listed[group]})
	}
	gv := schema.GroupVersion{Group: group, Version: path[1]}
	switch path[len(path)-1] {
	case "rps":
		return memberstest.Respond(http.StatusOK, runtime.ContentTypeJSON, encode(r, gv, &custom_metrics.MetricValueList{Items: m.objects}))
	case "queue":
		return memberstest.Respond(http.StatusOK, runtime.ContentTypeJSON,
			encode(r, gv, &external_metrics.ExternalMetricValueList{Items: m.series}))
	default:
		return memberstest.Refusal(apierrors.NewNotFound(schema.GroupResource{Group: group}, path[len(path)-1]))
	}
}

// encode gives the first type that the asker accepts.
func encode(r *http.Request, gv schema.GroupVersion, list runtime.Object) []byte {
	s := runtime.NewScheme()
	custominstall.Install(s)
	externalinstall.Install(s)
	codecs := serializer.NewCodecFactory(s)
	media, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), media)
	if !ok {
		panic("no such media type: " + media)
	}
	body, err := runtime.Encode(codecs.EncoderForVersion(info.Serializer, gv), list)
	if err != nil {
		panic(err)
	}
	return body
}

// pageNotFound returns what an API server says of a path that nobody serves.
func pageNotFound() *http.Response {
	return memberstest.Respond(http.StatusNotFound, "text/plain; charset=utf-8", []byte("404 page not found\n"))
}

func saying(code int, body string) memberstest.Handler {
	return memberstest.Saying(code, runtime.ContentTypeJSON, body)
}

// take empties the list of what was asked.
func (m *fakeMember) take() []string { return m.Take((*url.URL).RequestURI) }

// askedFor counts the questions for values.
func (m *fakeMember) askedFor(metric string) (n int) {
	for _, path := range m.Asked(func(u *url.URL) string { return u.Path }) {
		if strings.HasSuffix(path, "/"+metric) && strings.Count(path, "/") > 3 {
			n++
		}
	}
	return n
}

const (
	keepFor   = 5 * time.Second
	timeout   = 4 * time.Second // less than keepFor, so that failures can be kept too
	idleAfter = 10 * time.Minute
	period    = time.Minute
)

// fleetOf is a running relay over members that a test may exchange.
type fleetOf struct {
	*Relay
	registry *prometheus.Registry
	stop     func() // returns when Run has

	mu      sync.Mutex
	members []Source
	logged  []string
}

// takeLog empties the log.
func (f *fleetOf) takeLog() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	logged := f.logged
	f.logged = nil
	return logged
}

func (f *fleetOf) setMembers(members ...Source) {
	f.mu.Lock()
	f.members = members
	f.mu.Unlock()
	f.MembersChanged()
}

func newFleet(members ...Source) *fleetOf {
	return newFleetWith(func(*Options) {}, members...)
}

func newFleetWith(change func(*Options), members ...Source) *fleetOf {
	f := &fleetOf{members: members, registry: prometheus.NewRegistry()}
	o := Options{
		Members: func() []Source {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.members
		},
		Timeout: timeout, KeepFor: keepFor, IdleAfter: idleAfter, DiscoveryPeriod: period,
		Memory: memory.New(1<<30, memory.NewMetrics(prometheus.NewRegistry())), Custom: true, External: true, Metrics: NewMetrics(f.registry),
	}
	change(&o)
	f.Relay = New(o)
	return f
}

// start is run in a bubble. It returns once every member has been discovered or hangs.
func (f *fleetOf) start(t *testing.T) *fleetOf {
	t.Helper()
	f.run(t)
	synctest.Wait()
	return f
}

// run has the relay run until the test ends.
func (f *fleetOf) run(t *testing.T) {
	t.Helper()
	logger := funcr.New(func(_, args string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.logged = append(f.logged, args)
	}, funcr.Options{})
	f.stop = memberstest.Run(klog.NewContext(t.Context(), logger), t, func(ctx context.Context) error {
		f.Run(ctx)
		return nil
	})
}

func startFleet(t *testing.T, members ...Source) *fleetOf {
	t.Helper()
	return newFleet(members...).start(t)
}

func everywhere(string) bool { return true }

var (
	podsRPS = CustomQuestion{
		Subject: Subject{namespace: "shop", resource: "pods", name: "*"}, Metric: "rps", Clusters: everywhere,
	}
	queue = ExternalQuestion{Namespace: "shop", Metric: "queue", Clusters: everywhere}
)

// objectsIn are "cluster/object=value" of all that an answer holds, in order.
func objectsIn(r Result[custom_metrics.MetricValue]) []string {
	var out []string
	for _, cluster := range slices.Sorted(maps.Keys(r.Values)) {
		for _, v := range r.Values[cluster] {
			out = append(out, cluster+"/"+v.DescribedObject.Name+"="+v.Value.String())
		}
	}
	return out
}

func seriesIn(parts map[string][]external_metrics.ExternalMetricValue) []string {
	var out []string
	for _, cluster := range slices.Sorted(maps.Keys(parts)) {
		for _, v := range parts[cluster] {
			out = append(out, cluster+"/"+v.MetricLabels["queue"]+"="+v.Value.String())
		}
	}
	return out
}

func wantCoverage[T any](t *testing.T, r Result[T], want string) {
	t.Helper()
	if got := r.Coverage().Header(); got != want {
		t.Errorf("coverage %q, want %q", got, want)
	}
}

var away = &fleet.Silence{Reason: fleet.ReasonUnreachable, Detail: "connection refused"}

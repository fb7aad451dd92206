// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	customv1beta1 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta1"
	customv1beta2 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	"k8s.io/metrics/pkg/apis/external_metrics"
	externalv1beta1 "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/relay"
	"github.com/fleetscale/fleetscale/pkg/merge"
)

const (
	custom1  = "/apis/custom.metrics.k8s.io/v1beta1/"
	custom2  = "/apis/custom.metrics.k8s.io/v1beta2/"
	external = "/apis/external.metrics.k8s.io/v1beta1/"
)

// fakeRelay answers with what a test gives it, for the clusters that are asked.
type fakeRelay struct {
	custom   relay.Result[custom_metrics.MetricValue]
	external relay.Result[external_metrics.ExternalMetricValue]

	askedCustom   []relay.CustomQuestion
	askedExternal []relay.ExternalQuestion

	customMetrics   []provider.CustomMetricInfo
	externalMetrics []provider.ExternalMetricInfo
	listeners       []func()
}

var _ Relay = (*fakeRelay)(nil)

func (f *fakeRelay) Custom(_ context.Context, q relay.CustomQuestion) relay.Result[custom_metrics.MetricValue] {
	f.askedCustom = append(f.askedCustom, q)
	return among(f.custom, q.Clusters)
}

func (f *fakeRelay) External(_ context.Context, q relay.ExternalQuestion) relay.Result[external_metrics.ExternalMetricValue] {
	f.askedExternal = append(f.askedExternal, q)
	return among(f.external, q.Clusters)
}

func (f *fakeRelay) CustomMetrics() []provider.CustomMetricInfo     { return f.customMetrics }
func (f *fakeRelay) ExternalMetrics() []provider.ExternalMetricInfo { return f.externalMetrics }
func (f *fakeRelay) OnCatalogueChange(listener func())              { f.listeners = append(f.listeners, listener) }

func among[T any](r relay.Result[T], asked func(string) bool) relay.Result[T] {
	out := relay.Result[T]{Answer: fleet.NewAnswer[[]T](0), Since: r.Since, Before: r.Before, Throttled: r.Throttled}
	for name, value := range r.Values {
		if asked(name) {
			out.Values[name] = value
		}
	}
	for name, silence := range r.Silent {
		if asked(name) {
			out.Silent[name] = silence
		}
	}
	for _, name := range r.Absent {
		if asked(name) {
			out.Absent = append(out.Absent, name)
		}
	}
	return out
}

// answers is a result to which words on members are added.
type answers[T any] struct{ relay.Result[T] }

func newAnswers[T any]() answers[T] {
	return answers[T]{relay.Result[T]{Answer: fleet.NewAnswer[[]T](0), Since: map[string]time.Time{}, Before: map[string]merge.Seen{}}}
}

func (a answers[T]) say(cluster string, values ...T) answers[T] {
	a.Values[cluster] = values
	return a
}

func (a answers[T]) absent(clusters ...string) answers[T] {
	for _, cluster := range clusters {
		a.Values[cluster] = nil
	}
	a.Absent = append(a.Absent, clusters...)
	return a
}

// silent since so long ago, with what it said before that, if it ever did.
func (a answers[T]) silent(cluster string, ago time.Duration, before ...external_metrics.ExternalMetricValue) answers[T] {
	a.Silent[cluster] = &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer within the deadline"}
	a.Since[cluster] = time.Now().Add(-ago)
	if before != nil {
		a.Before[cluster] = merge.SeenIn(before)
	}
	return a
}

func figure(kind, name, value string) custom_metrics.MetricValue {
	return custom_metrics.MetricValue{
		DescribedObject: custom_metrics.ObjectReference{Kind: kind, Namespace: "shop", Name: name, APIVersion: "v1"},
		Metric:          custom_metrics.MetricIdentifier{Name: "rps"},
		Timestamp:       measured, WindowSeconds: new(int64(60)), Value: resource.MustParse(value),
	}
}

func series(value string, set labels.Set) external_metrics.ExternalMetricValue {
	return external_metrics.ExternalMetricValue{MetricName: "depth", MetricLabels: set, Timestamp: measured, Value: resource.MustParse(value)}
}

func decode[T any](t *testing.T, r *httptest.ResponseRecorder) T {
	t.Helper()
	var object T
	if r.Code != http.StatusOK {
		t.Fatalf("%d: %s", r.Code, r.Body)
	}
	if err := json.Unmarshal(r.Body.Bytes(), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// twoMembers are two clusters that answer for a Service with 10 and 2.5, and for web-0 with 1 and 2.
func twoMembers(t *testing.T) *hub {
	h := newHub(t, "", &fakeMember{name: "east"}, &fakeMember{name: "west"})
	h.relay.custom = newAnswers[custom_metrics.MetricValue]().
		say("east", figure("Service", "shop", "10")).
		say("west", figure("Service", "shop", "2500m")).Result
	return h
}

func TestListOfObjectsIsTheUnion(t *testing.T) {
	h := newHub(t, "", &fakeMember{name: "east"}, &fakeMember{name: "west"})
	h.relay.custom = newAnswers[custom_metrics.MetricValue]().
		say("west", figure("Pod", "web-0", "2")).
		say("east", figure("Pod", "web-0", "1"), figure("Pod", "db-0", "5")).Result
	const path = "namespaces/shop/pods/*/rps?labelSelector=app%3Dweb"
	want := []string{"east db-0 5", "east web-0 1", "west web-0 2"}

	var got []string
	for _, item := range decode[customv1beta2.MetricValueList](t, h.ask(custom2+path)).Items {
		got = append(got, fmt.Sprint(item.Metric.Selector.MatchLabels[fleet.ClusterLabel], " ", item.DescribedObject.Name, " ",
			item.Value.String()))
	}
	fleettest.Same(t, "v1beta2", want, got)
	got = nil
	for _, item := range decode[customv1beta1.MetricValueList](t, h.ask(custom1+path)).Items {
		got = append(got, fmt.Sprint(item.Selector.MatchLabels[fleet.ClusterLabel], " ", item.DescribedObject.Name, " ", item.Value.String()))
	}
	fleettest.Same(t, "v1beta1", want, got)
}

func TestQuestionIsPassedOnWithoutOurKeys(t *testing.T) {
	h := twoMembers(t)
	h.ask(custom2 + "namespaces/shop/pods/*/rps?labelSelector=" + url.QueryEscape("app in (web,db),fleetscale.io/cluster=east") +
		"&metricLabelSelector=" + url.QueryEscape("verb!=GET,fleetscale.io/partial=allow"))
	h.ask(custom2 + "namespaces/shop/deployments.apps/web/rps?metricLabelSelector=" + url.QueryEscape("fleetscale.io/merge=max"))
	h.ask(custom2 + "namespaces/shop/metrics/rps")
	h.ask(custom2 + "nodes/n1/rps")
	var got []string
	for _, q := range h.relay.askedCustom {
		got = append(got, fmt.Sprintf("%s|%s|%s|east %v|west %v", strings.Join(q.Path(), "/"), q.Selector, q.MetricSelector, q.Clusters("east"),
			q.Clusters("west")))
	}
	want := []string{
		"namespaces/shop/pods/*/rps|app in (db,web)|verb!=GET|east true|west false",
		"namespaces/shop/deployments.apps/web/rps|||east true|west true",
		"namespaces/shop/metrics/rps|||east true|west true",
		"nodes/n1/rps|||east true|west true",
	}
	fleettest.Same(t, "questions", want, got)
}

func TestOneObjectIsMerged(t *testing.T) {
	tests := map[string]string{
		"":                           "12500m",
		"fleetscale.io/merge=sum":    "12500m",
		"fleetscale.io/merge=avg":    "6250m",
		"fleetscale.io/merge=max":    "10",
		"fleetscale.io/merge=min":    "2500m",
		"fleetscale.io/cluster=west": "2500m",
		"fleetscale.io/cluster in (west,east),fleetscale.io/merge=max": "10",
	}
	for selector, want := range tests {
		t.Run(selector, func(t *testing.T) {
			h := twoMembers(t)
			list := decode[customv1beta2.MetricValueList](t,
				h.ask(custom2+"namespaces/shop/services/shop/rps?metricLabelSelector="+url.QueryEscape(selector)))
			if len(list.Items) != 1 || list.Items[0].Value.String() != want {
				t.Errorf("items %v, want one of %s", list.Items, want)
			}
		})
	}
}

func TestBadQuestionsAreRefused(t *testing.T) {
	const (
		empty         = "the path has an empty segment; it names a metric, and where there is one a namespace"
		otherInItself = `namespace "other" is no object in namespace "shop": request namespaces/other/metrics/ and the metric's name`
		allInItself   = `namespace "*" is no object in namespace "shop": request namespaces/*/metrics/ and the metric's name`
	)
	elsewhere := func(path, instead string) string { return path + " is not the path of a metric; request " + instead }
	tests := map[string]struct{ path, want string }{
		"another namespace":              {custom2 + "namespaces/shop/namespaces/other/rps", otherInItself},
		"another namespace, v1beta1":     {custom1 + "namespaces/shop/namespaces/other/rps", otherInItself},
		"another namespace, group's dot": {custom2 + "namespaces/shop/namespaces./other/rps", otherInItself},
		"all namespaces":                 {custom2 + "namespaces/shop/namespaces/*/rps", allInItself},
		"all namespaces, without a name": {custom2 + "namespaces/shop/namespaces//rps", allInItself},
		"a subresource of a namespace":   {custom2 + "namespaces/shop/status", `request namespaces/shop/metrics/ and the metric's name`},
		"a namespace with a group's dot": {custom2 + "namespaces./shop/rps",
			elsewhere(custom2+"namespaces./shop/rps", custom2+"namespaces/shop/metrics/rps")},
		"a metric of a metric": {custom2 + "namespaces/shop/metrics/rps/errors",
			elsewhere(custom2+"namespaces/shop/metrics/rps/errors", custom2+"namespaces/shop/metrics/rps")},
		"all pods, without a name": {custom2 + "namespaces/shop/pods//rps",
			elsewhere(custom2+"namespaces/shop/pods//rps", custom2+"namespaces/shop/pods/*/rps")},
		"pods of no namespace": {custom2 + "namespaces//pods/web-0/rps",
			elsewhere(custom2+"namespaces//pods/web-0/rps", custom2+"pods/web-0/rps")},
		"an external metric of nowhere": {external + "namespaces//depth", empty},
		"an external metric called status": {external + "namespaces/shop/status",
			elsewhere(external+"namespaces/shop/status", external+"namespaces/shop/namespaces")},
		"an external metric by name": {external + "namespaces/shop/depth?fieldSelector=metadata.name%3Dmail",
			`fieldSelector "metadata.name=mail": series have no fields; select them by their labels with labelSelector`},
		"an unknown word": {custom2 + "namespaces/shop/services/shop/rps?metricLabelSelector=fleetscale.io/merge%3Dmedian",
			"sum, avg, max, min"},
		"an unknown word, external": {external + "namespaces/shop/depth?labelSelector=fleetscale.io/merge%3Dmedian", "sum, avg, max, min"},
		"a word for a list": {custom2 + "namespaces/shop/pods/*/rps?metricLabelSelector=fleetscale.io/merge%3Dsum",
			"nothing is merged"},
		"our key among pods' labels": {custom2 + "namespaces/shop/pods/*/rps?labelSelector=fleetscale.io/partial%3Dallow",
			"belongs into the metric's selector"},
		"a selector that is none":       {custom2 + "namespaces/shop/services/shop/rps?metricLabelSelector=a%3D%3D%3Db", "metricLabelSelector: "},
		"a path that leads elsewhere":   {custom2 + "namespaces/shop/services/%2e%2e/rps", "may not be '..'"},
		"a metric that leads elsewhere": {external + "namespaces/shop/%2e%2e", "may not be '..'"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := twoMembers(t)
			r := h.ask(tc.path)
			if r.Code != http.StatusBadRequest || !strings.Contains(message(t, r), tc.want) {
				t.Errorf("%d %s, want 400 with %q", r.Code, r.Body, tc.want)
			}
			if n := len(h.relay.askedCustom) + len(h.relay.askedExternal); n > 0 {
				t.Errorf("members were asked %d times", n)
			}
		})
	}
}

func TestSilentMembersOfCustomMetrics(t *testing.T) {
	const (
		object  = custom2 + "namespaces/shop/services/shop/rps"
		list    = custom2 + "namespaces/shop/pods/*/rps"
		partial = "?metricLabelSelector=fleetscale.io/partial%3Dallow"
		avg     = "?metricLabelSelector=fleetscale.io/merge%3Davg"
	)
	silentFor := func(ago time.Duration) relay.Result[custom_metrics.MetricValue] {
		return newAnswers[custom_metrics.MetricValue]().say("east", figure("Service", "shop", "10")).silent("west", ago).Result
	}
	const west = "1 of 2 clusters did not answer: west (Timeout: no answer within the deadline)"
	tests := map[string]struct {
		path    string
		headers []string
		given   relay.Result[custom_metrics.MetricValue]
		code    int
		message string // of an error
		warning string
	}{
		"a list is partial": {path: list, given: silentFor(time.Second), code: 200, warning: west},
		"a sum is refused": {path: object, given: silentFor(time.Second), code: 503,
			message: `metric "rps" of services "shop" in namespace "shop": a partial result would pass for the whole: ` + west +
				`; to accept partial results, add fleetscale.io/partial=allow to the metric's selector`},
		"a sum is allowed by key": {path: object + partial, given: silentFor(time.Second), code: 200, warning: west},
		"a sum is allowed by header": {path: object, headers: []string{"Fleetscale-Partial: allow"}, given: silentFor(time.Second),
			code: 200, warning: west},
		"an average is never partial": {path: object + avg, headers: []string{"Fleetscale-Partial: allow"}, given: silentFor(time.Second),
			code: 503, message: `metric "rps" of services "shop" in namespace "shop": the avg of a part of the fleet may be far from that of the whole: ` + west},
		"beyond the grace a sum continues": {path: object, given: silentFor(2 * time.Minute), code: 200, warning: west},
		"beyond it an average continues":   {path: object + avg, given: silentFor(2 * time.Minute), code: 200, warning: west},
		"no cluster that answered serves it": {path: object, given: newAnswers[custom_metrics.MetricValue]().absent("east").silent("west",
			time.Second).Result, code: 503,
			message: `metric "rps" of services "shop" in namespace "shop": no cluster that answered serves it, and ` + west +
				"; not served by: east"},
		"nobody knows it": {path: object, given: newAnswers[custom_metrics.MetricValue]().absent("west", "east").Result,
			code: 404, message: `metric "rps" of services "shop" in namespace "shop": not known in any of the clusters asked: east, west`},
		"a selector that means no member": {path: object + "?metricLabelSelector=fleetscale.io/cluster%3Dnorth", given: silentFor(time.Second),
			code: 404, message: `metric "rps" of services "shop" in namespace "shop": the selector on fleetscale.io/cluster selects none of the clusters: east, west`},
		"only some have it": {path: object,
			given: newAnswers[custom_metrics.MetricValue]().say("east", figure("Service", "shop", "10")).absent("west").Result, code: 200},
		"all are silent": {path: list, given: newAnswers[custom_metrics.MetricValue]().silent("east", time.Second).silent("west",
			time.Second).Result, code: 503,
			message: `metric "rps" of pods in namespace "shop": no cluster that answered serves it, and 2 of 2 clusters did not answer: east (Timeout: no answer within the deadline), west (Timeout: no answer within the deadline)`},
		"one was not heard of yet": {path: object,
			given: newAnswers[custom_metrics.MetricValue]().say("east", figure("Service", "shop", "10")).Result, code: 503,
			message: `metric "rps" of services "shop" in namespace "shop": a partial result would pass for the whole: 1 of 2 clusters did not answer: west (NotYetAsked: registered a moment ago); to accept partial results, add fleetscale.io/partial=allow to the metric's selector`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, "", &fakeMember{name: "east"}, &fakeMember{name: "west"})
			h.relay.custom = tc.given
			r := h.ask(tc.path, tc.headers...)
			if r.Code != tc.code {
				t.Fatalf("%d %s, want %d", r.Code, r.Body, tc.code)
			}
			if tc.code != http.StatusOK {
				fleettest.Same(t, "message", tc.message, message(t, r))
			}
			checkWarning(t, r, tc.warning)
		})
	}
}

func checkWarning(t *testing.T, r *httptest.ResponseRecorder, want string) {
	t.Helper()
	if want != "" {
		want = fmt.Sprintf("299 %s %q", fleet.WarningAgent, want)
	}
	fleettest.Same(t, "warning", want, r.Header().Get("Warning"))
}

func TestSeriesSeenByManyCountOnce(t *testing.T) {
	h := newHub(t, "", &fakeMember{name: "east"}, &fakeMember{name: "west"})
	h.relay.external = newAnswers[external_metrics.ExternalMetricValue]().
		say("east", series("7", labels.Set{"queue": "mail"}), series("1", labels.Set{"queue": "east"})).
		say("west", series("9", labels.Set{"queue": "mail"})).Result
	tests := map[string][]string{
		"":                           {"east 1", "mail 9"},
		"fleetscale.io/merge=sum":    {"east 1", "mail 16"},
		"fleetscale.io/merge=min":    {"east 1", "mail 7"},
		"fleetscale.io/cluster=east": {"east 1", "mail 7"},
	}
	for selector, want := range tests {
		var got []string
		for _, item := range decode[externalv1beta1.ExternalMetricValueList](t,
			h.ask(external+"namespaces/shop/depth?labelSelector="+url.QueryEscape(selector))).Items {
			got = append(got, item.MetricLabels["queue"]+" "+item.Value.String())
		}
		fleettest.Same(t, fmt.Sprintf("%q", selector), want, got)
	}
}

func TestExternalMetricIsWholeWhenOthersHaveAllOfIt(t *testing.T) {
	mail, own := series("7", labels.Set{"queue": "mail"}), series("1", labels.Set{"queue": "west"})
	east := func() answers[external_metrics.ExternalMetricValue] {
		return newAnswers[external_metrics.ExternalMetricValue]().say("east", mail)
	}
	tests := map[string]struct {
		given    relay.Result[external_metrics.ExternalMetricValue]
		code     int
		coverage string
	}{
		"the others have all of it":  {east().silent("west", time.Second, mail).Result, 200, "answered=east;silent=west:Timeout;covered=west"},
		"it had a series of its own": {east().silent("west", time.Second, mail, own).Result, 503, "answered=east;silent=west:Timeout"},
		"what it had is not known":   {east().silent("west", time.Second).Result, 503, "answered=east;silent=west:Timeout"},
		"nobody has a series": {newAnswers[external_metrics.ExternalMetricValue]().say("east").say("west").Result, 404,
			"answered=east,west"},
		"and one is silent": {newAnswers[external_metrics.ExternalMetricValue]().say("east").silent("west", time.Second, mail).Result, 503,
			"answered=east;silent=west:Timeout"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, "", &fakeMember{name: "east"}, &fakeMember{name: "west"})
			h.relay.external = tc.given
			r := h.ask(external + "namespaces/shop/depth")
			if r.Code != tc.code {
				t.Errorf("%d %s, want %d", r.Code, r.Body, tc.code)
			}
			if got := r.Header().Get(fleet.CoverageHeader); got != tc.coverage {
				t.Errorf("coverage %q, want %q", got, tc.coverage)
			}
		})
	}
}

// Who decides for the hub's own pods alone must not see those of others; what
// is measured outside of clusters is the same for all.
func TestLocalUsersOfCustomAndExternalMetrics(t *testing.T) {
	h := newHub(t, "east", &fakeMember{name: "east"}, &fakeMember{name: "west"})
	h.relay.custom = newAnswers[custom_metrics.MetricValue]().absent("east").say("west", figure("Pod", "web-0", "2")).Result
	h.relay.external = newAnswers[external_metrics.ExternalMetricValue]().absent("east").say("west", series("9", nil)).Result
	if r := h.ask(custom2+"namespaces/shop/pods/*/rps", "Test-User: hpa-controller"); r.Code != http.StatusNotFound {
		t.Errorf("a local user gets %d %s", r.Code, r.Body)
	}
	if r := h.ask(external+"namespaces/shop/depth", "Test-User: hpa-controller"); r.Code != http.StatusOK {
		t.Errorf("a local user gets %d %s", r.Code, r.Body)
	}
}

func TestDiscoveryOfMetrics(t *testing.T) {
	const aggregated = "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	h := twoMembers(t)
	names := func(path string) (all []string) {
		list := decode[struct {
			Resources []struct {
				Name, Kind string
				Namespaced bool
			}
		}](t, h.ask(path))
		for _, r := range list.Resources {
			all = append(all, fmt.Sprint(r.Name, " ", r.Kind, " ", r.Namespaced))
		}
		return all
	}
	inAggregate := func(what string) bool { return strings.Contains(h.ask("/apis", aggregated).Body.String(), what) }

	fleettest.Same(t, "custom metrics of an empty fleet", []string{"pods/no_metric_is_known MetricValueList true"}, names(custom2))
	fleettest.Same(t, "external metrics of an empty fleet", []string{"no_metric_is_known ExternalMetricValueList true"}, names(external))
	if !inAggregate(`"subresource":"no_metric_is_known"`) {
		t.Error("aggregated discovery of an empty fleet lacks the API")
	}

	h.relay.customMetrics = []provider.CustomMetricInfo{
		{GroupResource: custom_metrics.Resource("x"), Metric: "rps", Namespaced: true},
		{GroupResource: custom_metrics.Resource("x"), Metric: "rps", Namespaced: false},
	}
	h.relay.externalMetrics = []provider.ExternalMetricInfo{{Metric: "depth"}}
	for _, listener := range h.relay.listeners {
		listener()
	}
	want := []string{"x.custom.metrics.k8s.io/rps MetricValueList true", "x.custom.metrics.k8s.io/rps MetricValueList false"}
	for _, path := range []string{custom1, custom2} {
		fleettest.Same(t, path, want, names(path))
	}
	for _, what := range []string{`"subresource":"rps"`, `"resource":"depth"`} {
		if !inAggregate(what) {
			t.Errorf("aggregated discovery lacks %s", what)
		}
	}
	if inAggregate("no_metric_is_known") {
		t.Error("aggregated discovery tells of nothing known")
	}
	groups := h.ask("/apis/custom.metrics.k8s.io")
	if !strings.Contains(groups.Body.String(), `"version":"v1beta1"`) ||
		!strings.Contains(groups.Body.String(), `"preferredVersion":{"groupVersion":"custom.metrics.k8s.io/v1beta2"`) {
		t.Errorf("the group is %s", groups.Body)
	}
}

func TestAnAPIThatIsLeftOutIsNotServed(t *testing.T) {
	for _, left := range []string{"metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io"} {
		a := New(Options{APIs: []string{left}, Relay: &fakeRelay{}, MaxAnswerBytes: 1})
		config := NewConfig()
		config.ExternalAddress = "adapter.test:443"
		config.LoopbackClientConfig = &rest.Config{}
		server, err := a.NewServer(config)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRecorder()
		server.Handler.Director.ServeHTTP(r, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/apis", nil))
		for _, group := range []string{"metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io"} {
			if served := strings.Contains(r.Body.String(), `"name":"`+group+`"`); served != (group == left) {
				t.Errorf("with only %s: %s served = %v", left, group, served)
			}
		}
	}
}

func TestMetricsInProtobuf(t *testing.T) {
	h := twoMembers(t)
	h.relay.external = newAnswers[external_metrics.ExternalMetricValue]().say("east", series("7", nil)).absent("west").Result
	const protobuf = "application/vnd.kubernetes.protobuf"
	for _, path := range []string{custom1 + "namespaces/shop/services/shop/rps", custom2 + "namespaces/shop/services/shop/rps",
		external + "namespaces/shop/depth"} {
		r := h.ask(path, "Accept: "+protobuf+", */*")
		if r.Code != http.StatusOK || r.Header().Get("Content-Type") != protobuf {
			t.Errorf("%s: %d %s", path, r.Code, r.Header().Get("Content-Type"))
		}
	}
}

func TestOpenAPIDescribesMetrics(t *testing.T) {
	h := twoMembers(t)
	for path, kind := range map[string]string{custom1: "MetricValueList", custom2: "MetricValueList", external: "ExternalMetricValueList"} {
		r := h.ask("/openapi/v3" + strings.TrimSuffix(path, "/"))
		if r.Code != http.StatusOK || !strings.Contains(r.Body.String(), kind) {
			t.Errorf("%s: %d, %d bytes without %s", path, r.Code, r.Body.Len(), kind)
		}
	}
}

// Who asks more than members are sent is told so, and no member is called silent.
func TestThrottledQuestions(t *testing.T) {
	h := twoMembers(t)
	h.relay.custom.Silent["east"] = &fleet.Silence{Reason: fleet.ReasonRateLimited, Detail: "our own limit"}
	delete(h.relay.custom.Values, "east")
	h.relay.custom.Throttled = true
	h.relay.external.Throttled = true
	for _, path := range []string{
		custom2 + "namespaces/shop/pods/*/rps", custom2 + "namespaces/shop/services/shop/rps", external + "namespaces/shop/depth",
		custom2 + "namespaces/shop/pods/*/rps?metricLabelSelector=fleetscale.io/partial%3Dallow",
	} {
		r := h.ask(path)
		if r.Code != http.StatusTooManyRequests || r.Header().Get("Retry-After") != "1" || r.Header().Get(fleet.CoverageHeader) != "" ||
			!strings.Contains(r.Body.String(), "(--member-qps); ask again") {
			t.Errorf("%s: %d with Retry-After %q and coverage %q: %s; want 429, to be asked again", path, r.Code, r.Header().Get("Retry-After"),
				r.Header().Get(fleet.CoverageHeader), r.Body)
		}
	}
}

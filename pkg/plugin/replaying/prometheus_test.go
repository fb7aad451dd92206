// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
	"github.com/fleetscale/fleetscale/pkg/recording/series"
)

// scripted is a Prometheus that has some series at each time that it is asked for.
type scripted struct {
	series   map[string]string // labels, in JSON, and the value
	warnings []string
	asked    []string
	points   float64 // the most that it was asked for at once
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number := func(name string) float64 {
		n, err := strconv.ParseFloat(r.FormValue(name), 64)
		if err != nil {
			http.Error(w, name, http.StatusBadRequest)
		}
		return n
	}
	start, end, step := number("start"), number("end"), number("step")
	s.asked = append(s.asked, r.URL.Path+" "+r.FormValue("query"))
	s.points = max(s.points, (end-start)/step+1)
	var result []string
	for labels, value := range s.series {
		var values []string
		for at := start; at <= end; at += step {
			values = append(values, fmt.Sprintf("[%v,%q]", strconv.FormatFloat(at, 'f', 3, 64), value))
		}
		result = append(result, fmt.Sprintf(`{"metric":%s,"values":[%s]}`, labels, strings.Join(values, ",")))
	}
	warnings, _ := json.Marshal(s.warnings)
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"status":"success","warnings":%s,"data":{"resultType":"matrix","result":[%s]}}`, warnings,
		strings.Join(result, ","))
}

// four are the series of an autoscaler with four replicas, of a version that does not tell what it is told.
func four() map[string]string {
	all := map[string]string{}
	for name, value := range map[string]string{"spec_min": "2", "spec_max": "12", "current": "4", "desired": "4"} {
		all[fmt.Sprintf(`{"__name__":"fleetscale_federatedhpa_%s_replicas","namespace":"shop","name":"cart"}`, name)] = value
	}
	return all
}

func half() map[string]string {
	all := four()
	delete(all, `{"__name__":"fleetscale_federatedhpa_desired_replicas","namespace":"shop","name":"cart"}`)
	return all
}

func paused() map[string]string {
	all := four()
	all[`{"__name__":"fleetscale_federatedhpa_mode","namespace":"shop","name":"cart","mode":"Paused"}`] = "1"
	return all
}

// told are those of a version that tells all, of Pods that use half of what they request.
func told() map[string]string {
	all := four()
	of := func(name, kind string) string {
		return fmt.Sprintf(`{"__name__":"fleetscale_federatedhpa_metric_%s","namespace":"shop","name":"cart","index":"0","metric":"cpu",`+
			`"kind":%q}`, name, kind)
	}
	all[`{"__name__":"fleetscale_federatedhpa_unseen_clusters","namespace":"shop","name":"cart"}`] = "0"
	for kind, pods := range map[string]string{"counted": "4", "unready": "0", "missing": "0", "unlisted": "0"} {
		all[of("pods", kind)] = pods
	}
	for kind, cores := range map[string]string{"used": "1", "requested": "2", "unready_requested": "0", "missing_requested": "0",
		"busy": "0"} {
		all[of("amount", kind)] = cores
	}
	return all
}

// withHub has a kubeconfig lead to a hub that has the FederatedHPA shop/cart.
func withHub(t *testing.T) *plugin.Caller {
	t.Helper()
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasSuffix(r.URL.Path, "/namespaces/shop/federatedhpas/cart") {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
			return
		}
		record, err := recording.NewDecoder(bytes.NewReader(recordingtest.Hour(recordingtest.Start, "cart"))).Next()
		if err != nil {
			t.Error(err)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"metadata": map[string]any{"namespace": "shop", "name": "cart", "uid": "1"}, "spec": record.Spec,
		})
	}))
	t.Cleanup(hub.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	config := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"hub","clusters":[{"name":"hub","cluster":{"server":%q}}],`+
		`"contexts":[{"name":"hub","context":{"cluster":"hub","namespace":"shop"}}]}`, hub.URL)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
	return plugin.NewCaller(genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}})
}

func TestRecordFromPrometheus(t *testing.T) {
	prometheus := &scripted{series: four()}
	token, tenants, wholly, counts := "", "", "", ""
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, tenants = r.Header.Get("Authorization"), r.Header.Get("X-Scope-OrgID")+" "+r.Header.Get("THANOS-TENANT")
		wholly = r.FormValue("partial_response") + " " + r.FormValue("deny_partial_response") + " " + r.FormValue("max_source_resolution")
		counts = r.FormValue("lookback_delta") + " " + r.FormValue("max_lookback")
		prometheus.ServeHTTP(w, r)
	}))
	defer server.Close()
	dir := t.TempDir()
	ca, secret, file := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "token"), filepath.Join(dir, "cart.fsr")
	if err := errors.Join(os.WriteFile(secret, []byte("abc\n"), 0o600),
		os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600)); err != nil {
		t.Fatal(err)
	}
	caller := withHub(t)
	o := RecordOptions{Words: []string{"fhpa/cart"}, Since: 12000 * time.Minute, File: file,
		Prometheus: Prometheus{URL: server.URL, Step: time.Minute, Match: `hub="eu"`, Tenant: "ours", CAFile: ca, TokenFile: secret}}
	if err := Record(t.Context(), caller, o); err != nil {
		t.Fatal(err)
	}
	if len(prometheus.asked) != 2 || prometheus.points > 11_000 || token != "Bearer abc" || tenants != "ours ours" {
		t.Errorf("%d questions, of %v points at most, by %q of %q", len(prometheus.asked), prometheus.points, token, tenants)
	}
	if wholly != "false 1 0" {
		t.Errorf("a part would do, or means: %q", wholly)
	}
	if counts != "60 60" {
		t.Errorf("what was scraped before a step counts: %q", counts)
	}
	const want = `/api/v1/query_range {__name__=~"fleetscale_federatedhpa_spec_min_replicas|`
	const both = `",name="cart",hub="eu",namespace="shop",exported_namespace=""} or {`
	if asked := prometheus.asked[0]; !strings.HasPrefix(asked, want) || !strings.Contains(asked, both) ||
		!strings.HasSuffix(asked, `",name="cart",hub="eu",exported_namespace="shop"}`) {
		t.Error(asked)
	}
	said := caller.ErrOut.(*bytes.Buffer).String()
	if !strings.Contains(said, "12001 decisions; what 12001 of them") ||
		!strings.Contains(said,
			"no series of fleetscale_federatedhpa_unseen_clusters, fleetscale_federatedhpa_metric_pods, fleetscale_federatedhpa_metric_amount.") {
		t.Error(said)
	}
	out, err := run(t, nil, Options{Words: []string{file}})
	if err != nil || !strings.Contains(out, "12001 decisions") || !strings.Contains(out, "all are as they were") ||
		!strings.Contains(out, "4 to 4") || !strings.Contains(out, "load not known for 200 h 00 min") {
		t.Errorf("%v\n%s", err, out)
	}
}

// What a Prometheus tells whole can be decided by another target.
func TestReplayOfWhatAPrometheusTells(t *testing.T) {
	server := httptest.NewServer(&scripted{series: told()})
	defer server.Close()
	file := filepath.Join(t.TempDir(), "cart.fsr")
	o := RecordOptions{Words: []string{"fhpa/cart"}, Since: time.Hour, File: file, Prometheus: Prometheus{URL: server.URL, Step: time.Minute}}
	if err := Record(t.Context(), withHub(t), o); err != nil {
		t.Fatal(err)
	}
	out, err := run(t, nil, Options{Words: []string{file}, Set: []string{"spec.metrics[0].resource.target.averageUtilization=25"}})
	if err != nil || !strings.Contains(out, "all are as they were") || strings.Contains(out, "load not known") ||
		!strings.Contains(out, "8 to 8") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestPrometheusThatCannotSay(t *testing.T) {
	answer := func(code int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, text)
		}
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer elsewhere.Close()
	const smaller, later = "give a larger --step or a shorter --since", "ask again when all that it reads from is up"
	tests := map[string]struct {
		answer http.Handler
		want   string
	}{
		"too many samples": {answer(422, `{"status":"error","errorType":"execution","error":"query processing would load too many samples"}`),
			"execution: query processing would load too many samples: " + smaller},
		"too many points": {answer(400, `{"status":"error","errorType":"bad_data","error":"exceeded maximum resolution of 11,000 points"}`),
			"bad_data: exceeded maximum resolution of 11,000 points: " + smaller},
		"too long for Mimir": {answer(422, `{"status":"error","errorType":"execution","error":"the query time range exceeds the limit"}`),
			"execution: the query time range exceeds the limit: " + smaller},
		"its own timeout": {answer(503, `{"status":"error","errorType":"timeout","error":"query timed out"}`),
			"timeout: query timed out: " + smaller},
		"as it starts": {answer(503, "Service Unavailable"), "server_error: server error: 503 Service Unavailable: " + later},
		"too often": {answer(429, `{"status":"error","errorType":"too_many_requests","error":"too many outstanding requests"}`),
			"ask again later"},
		"a part of a Thanos": {answer(422, `{"status":"error","errorType":"execution","error":"expanding series: rpc error: code = Unavailable"}`),
			"execution: expanding series: rpc error: code = Unavailable: " + later},
		"a part of a VictoriaMetrics": {answer(503, `{"status":"error","errorType":"503","error":"cannot reach vmstorage"}`),
			"503: cannot reach vmstorage: " + later},
		"not one's own": {answer(403, "no"), "client error: 403 no: give --prometheus-token-file"},
		"no token": {answer(401, "who are you?"),
			"client error: 401 who are you?: give --prometheus-token-file, or to Mimir or Thanos --prometheus-tenant"},
		"another server": {answer(404, "no such page"), "must be the base URL of a Prometheus, without /api/v1"},
		"a page":         {answer(200, "<html>"), "must be the base URL of a Prometheus, without /api/v1"},
		"a number":       {answer(200, `{"status":"success","data":{"resultType":"scalar","result":[0,"1"]}}`), "the answer is no matrix"},
		"a redirect":     {http.RedirectHandler(elsewhere.URL, http.StatusFound), "bad response code 302"},
		"cut off": {http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
			"is it reachable from here"},
		"no series": {&scripted{},
			"FederatedHPA shop/cart, the last 1h0m0s: there are no series of it. Is the controller-manager scraped"},
		"no series, and a warning": {&scripted{warnings: []string{"No StoreAPIs matched for this query"}},
			"the past may not be whole, as it warns: No StoreAPIs matched for this query: " + later},
		"a part, and warnings": {&scripted{series: four(), warnings: []string{"remote_read: \x1brefused", "another"}},
			"the past may not be whole, as it warns: remote_read: \ufffdrefused; another: " + later},
		"half of the series": {&scripted{series: half()}, "there are no series of fleetscale_federatedhpa_desired_replicas. Are they dropped"},
		"a paused one":       {&scripted{series: paused()}, "the series tell of no decision: it was paused, or in distributed mode"},
		"a wrong matcher for VictoriaMetrics": {answer(422, `{"status":"error","errorType":"422","error":"cannot parse the query"}`),
			"422: cannot parse the query: --prometheus-match must be label matchers"},
		"a wrong matcher": {answer(400, `{"status":"error","errorType":"bad_data","error":"1:9: parse error: unexpected"}`),
			"parse error: unexpected: --prometheus-match must be label matchers"},
		"everybody's series": {&scripted{series: func() map[string]string {
			all := map[string]string{}
			for i := range mostSeries + 1 {
				all[fmt.Sprintf(`{"__name__":"a","i":"%d"}`, i)] = "1"
			}
			return all
		}()}, "the answer has 5001 series, and not 5000 at most"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tc.answer)
			defer server.Close()
			file := filepath.Join(t.TempDir(), "cart.fsr")
			o := RecordOptions{Words: []string{"fhpa/cart"}, Since: time.Hour, File: file,
				Prometheus: Prometheus{URL: server.URL, Step: time.Hour}}
			err := Record(t.Context(), withHub(t), o)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), server.URL) {
				t.Errorf("%v\nwant %s", err, tc.want)
			}
			if _, err := os.Stat(file); !os.IsNotExist(err) {
				t.Errorf("a file was written: %v", err)
			}
		})
	}
}

// What is asked for is one object, whatever its name.
func TestNamesAreQuoted(t *testing.T) {
	prometheus := &scripted{}
	server := httptest.NewServer(prometheus)
	defer server.Close()
	p := Prometheus{URL: server.URL, Step: time.Minute}
	until := recordingtest.Start
	if _, err := p.past(t.Context(), recording.Object{Namespace: `a",name=~".*`, Name: `b\`}, until, until); err != nil {
		t.Fatal(err)
	}
	const want = `",name="b\\",namespace="a\",name=~\".*",exported_namespace=""} or {`
	if len(prometheus.asked) != 1 || !strings.Contains(prometheus.asked[0], want) {
		t.Error(prometheus.asked)
	}
}

// Two hubs of one Prometheus are not one past unnoticed.
func TestTwoHubsAreNoticed(t *testing.T) {
	p := &past{}
	for i := range 10 {
		at := model.TimeFromUnixNano(recordingtest.Start.Add(time.Duration(i) * time.Minute).UnixNano())
		labels := model.Metric{model.MetricNameLabel: "fleetscale_federatedhpa_desired_replicas", "hub": model.LabelValue(strconv.Itoa(i % 2))}
		p.moments = append(p.moments, series.Moments(model.Matrix{{Metric: labels, Values: []model.SamplePair{{Timestamp: at, Value: 1}}}})...)
	}
	if notes := strings.Join(p.notes(nil), "\n"); !strings.Contains(notes, "by turns, 8 times: choose one hub by --prometheus-match") {
		t.Error(notes)
	}
	p.moments = p.moments[:5]
	if notes := strings.Join(p.notes(nil), "\n"); strings.Contains(notes, "by turns") {
		t.Error(notes)
	}
}

// One that does not answer is not waited for.
func TestSilentPrometheus(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // then the server notices that nobody waits
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	p := Prometheus{URL: server.URL, Step: time.Minute}
	until := recordingtest.Start
	_, err := p.past(ctx, recording.Object{Namespace: "shop", Name: "cart"}, until.Add(-time.Hour), until)
	if err == nil || !strings.Contains(err.Error(), "no answer within 1m0s: give a larger --step or a shorter --since") {
		t.Error(err)
	}
}

func TestLargeAnswerIsNotRead(t *testing.T) {
	server := httptest.NewServer(&scripted{series: four()})
	defer server.Close()
	client := &http.Client{Transport: bounded{via: http.DefaultTransport, most: 20}}
	answer, err := client.Get(server.URL + "/?start=0&end=9&step=1")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if !errors.Is(err, errTooLarge) || len(text) != 20 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if said := refusal(fmt.Errorf("reading: %w", err)).Error(); !strings.Contains(said, "134217728 bytes: give a larger --step") {
		t.Error(said)
	}
}

// The parts of a time are whole, are none twice, and are each of fewer points than a Prometheus allows.
func TestParts(t *testing.T) {
	until := recordingtest.Start
	for _, since := range []time.Duration{time.Second, time.Hour, 9_999 * time.Minute, 10_000 * time.Minute, 168 * time.Hour,
		40_000 * time.Minute} {
		next := until.Add(-since).Truncate(time.Minute)
		for _, part := range parts(until.Add(-since), until, time.Minute) {
			if !part.Start.Equal(next) || part.End.Sub(part.Start)/part.Step+1 > mostPoints {
				t.Errorf("%v: %v to %v, want from %v", since, part.Start, part.End, next)
			}
			next = part.End.Truncate(time.Minute).Add(time.Minute)
		}
		if !next.After(until) {
			t.Errorf("%v: nothing from %v on", since, next)
		}
	}
}

func TestRecordFromPrometheusIsValidated(t *testing.T) {
	caller := withHub(t)
	good := RecordOptions{Words: []string{"fhpa/cart"}, Since: time.Hour, Prometheus: Prometheus{URL: "http://127.0.0.1:1", Step: time.Minute}}
	for want, change := range map[string]func(*RecordOptions){
		"--observer and --from-prometheus: give one of them": func(o *RecordOptions) { o.Observer = "http://127.0.0.1:8083" },
		"--since: say how far back to go, such as 168h":      func(o *RecordOptions) { o.Since = 0 },
		"--step: must be 1s or more, got 1ms":                func(o *RecordOptions) { o.Prometheus.Step = time.Millisecond },
		"--since 13h53m20s, --step 1s: that is more than 50000 times; give": func(o *RecordOptions) {
			o.Since, o.Prometheus.Step = mostMoments*time.Second, time.Second // with both ends one more
		},
		"--from-prometheus: must be the base URL of a Prometheus, such as": func(o *RecordOptions) {
			o.Prometheus.URL = "http://a:b@127.0.0.1:1"
		},
		"--prometheus-token-file: open ": func(o *RecordOptions) {
			o.Prometheus.TokenFile = filepath.Join(t.TempDir(), "none")
		},
		"--prometheus-ca-file: ": func(o *RecordOptions) {
			o.Prometheus.CAFile = filepath.Join(t.TempDir(), "none")
		},
		"there is no FederatedHPA web in namespace shop, whose spec the series do not tell": func(o *RecordOptions) {
			o.Words = []string{"fhpa/web"}
		},
	} {
		o := good
		change(&o)
		if err := Record(t.Context(), caller, o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

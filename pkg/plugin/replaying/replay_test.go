// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
	"github.com/fleetscale/fleetscale/pkg/recording/recordstore"
	"github.com/fleetscale/fleetscale/pkg/replay"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

func caller(in io.Reader) (*plugin.Caller, *bytes.Buffer) {
	out := &bytes.Buffer{}
	return plugin.NewCaller(genericiooptions.IOStreams{In: in, Out: out, ErrOut: io.Discard}), out
}

// says runs a replay that succeeds, and holds what it prints to texts that are in it.
func says(t *testing.T, in []byte, o Options, want []string) string {
	t.Helper()
	out, err := run(t, in, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range want {
		if !strings.Contains(out, text) {
			t.Errorf("there is no %q in\n%s", text, out)
		}
	}
	return out
}

func run(t *testing.T, in []byte, o Options) (string, error) {
	t.Helper()
	t.Setenv("KUBECONFIG", os.DevNull)
	c, out := caller(bytes.NewReader(in))
	if o.Words == nil {
		o.Words = []string{"-"}
	}
	if o.Format == "" {
		o.Format = "text"
	}
	if o.CutOff == 0 {
		o.CutOff = 95
	}
	err := Replay(t.Context(), c, o)
	return out.String(), err
}

func TestReplay(t *testing.T) {
	record := recordingtest.Hour(recordingtest.Start, "cart")
	tests := map[string]struct {
		options Options
		want    []string
	}{
		"as it was": {Options{}, []string{"FederatedHPA shop/cart: 241 decisions from 2027-03-01 09:30 UTC to 2027-03-01 10:30 UTC\n",
			"all are as they were\n", "AS IT WAS\n", "4 to 12", "at maxReplicas", "replicas as it was\n"}},
		"by another target": {Options{Set: []string{"spec.metrics[0].resource.target.averageUtilization=100", "spec.maxReplicas=40"}},
			[]string{"AS IT WAS   AS IT WOULD BE\n", "4 to 12     2 to 8", "above 90 % of the requests            15 s        30 s",
				"at maxReplicas                        30 min      0 s", "replicas as it would be\n", "The load is what it was"}},
		"a torn one": {Options{}, []string{"torn off"}},
		"a sweep": {Options{Sweep: SweepOptions{Targets: "50:90:20", Within: 1, Headroom: 50}},
			[]string{"TARGET", "50 %", "70 %", "90 %", "advice: a target of 90 %, minReplicas 2, maxReplicas 12"}},
		"a headroom": {Options{Sweep: SweepOptions{Wished: true, Within: 1, Headroom: 20}},
			[]string{"ABOVE 83 %", "10 %", "95 %", "load not known for 15 s: the Pods used all that they may",
				"advice: a target of 80 %, minReplicas 3, maxReplicas 11: the fewest Pod-hours with the use above 83 % for no more than 1 % of the " +
					"time, and 20 % more than was asked for at most\nat least that: some of the load is not known, and may need more\n"}},
		"a sweep that finds none": {Options{Above: 40, Sweep: SweepOptions{Targets: "50:90:20"}},
			[]string{"no advice: with none of the targets"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := record
			if name == "a torn one" {
				in = record[:len(record)-3]
			}
			out, err := run(t, in, tc.options)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("there is no %q in\n%s", want, out)
				}
			}
		})
	}
}

func TestReplayForPrograms(t *testing.T) {
	record := recordingtest.Hour(recordingtest.Start, "cart")
	out, err := run(t, record, Options{Format: "json", Set: []string{"spec.maxReplicas=40"}})
	r := &report{}
	if err != nil || json.Unmarshal([]byte(out), r) != nil {
		t.Fatal(err, out)
	}
	if r.Was.AtMaxSeconds < 1000 || r.Would.AtMaxSeconds != 0 || r.Would.Most != 15 || len(r.Points) != 241 ||
		r.Points[240].Would.Replicas != 15 {
		t.Errorf("%+v", r.Would)
	}
	out, err = run(t, record, Options{Format: "json", Sweep: SweepOptions{Targets: "50:60:10", Within: 5}})
	s := &sweepReport{}
	if err != nil || json.Unmarshal([]byte(out), s) != nil || len(s.Targets) != 2 || s.Advice == nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A page and a picture need nothing beside them, tell what the text does, and mark what is not known.
func TestReplayForEyes(t *testing.T) {
	record := recordingtest.Hour(recordingtest.Start, "cart")
	set := []string{"spec.maxReplicas=40"}
	sweep := SweepOptions{Targets: "50:70:10", Within: 1}
	for name, tc := range map[string]struct {
		options Options
		want    []string
	}{
		"a picture": {Options{Format: "svg", Set: set}, []string{"<title>FederatedHPA shop/cart: replicas; FederatedHPA shop/cart: use, in " +
			"percent of the requests</title>", ">as it was</text>", ">as it would be</text>", ">maxReplicas, as it would be</text>",
			">load not known: CutOff</text>", "url(#hatch)"}},
		"a page": {Options{Format: "html", Set: set}, []string{`"set":["spec.maxReplicas=40"]`, `"name":"Pod-hours"`,
			`"why":"CutOff: the Pods used`,
			"<pre>FederatedHPA shop/cart: 241 decisions", `"assuming":"The load is what it was`, `src="data:image/svg+xml;base64,`,
			"load not known for 15 s"}},
		"a page of targets": {Options{Format: "html", Sweep: sweep}, []string{`"advice":"advice: a target of 70 %`, `"head":["TARGET",`,
			`["60 %",`}},
		"a picture of targets": {Options{Format: "svg", Sweep: sweep}, []string{": time in which the use is above 90 %</text>",
			">Pod-hours</text>"}},
	} {
		out, err := run(t, record, tc.options)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, want := range tc.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s has no %s", name, want)
			}
		}
		if found := regexp.MustCompile(`(src|href)="(http|//|[a-z]+\.)`).FindString(out); found != "" {
			t.Errorf("%s loads something: %s", name, found)
		}
	}
}

// Where no target is a utilization nobody knows what a Pod can do: only the bounds are advised.
func TestHeadroomOfOtherTargets(t *testing.T) {
	l := &loaded{}
	spec := &v1alpha1.FederatedHPASpec{}
	spec.MaxReplicas = 10
	spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: new(resource.MustParse("100"))},
	}}}
	for i, value := range []int64{500, 2000, 2000} {
		q := recordingtest.Question(spec, 10, 0, recordingtest.Start.Add(time.Duration(i)*time.Minute))
		q.Metrics = []replicas.Metric{{Values: []int64{1000 * value}}}
		d := replicas.Decide(q)
		l.records = append(l.records, recording.New(recording.Object{Namespace: "shop", Name: "cart"}, spec, &q, &d))
	}
	o := Options{Sweep: SweepOptions{Wished: true, Headroom: 50}}
	r, err := o.swept(l, replay.Options{})
	if err != nil || r.Advice == nil || r.Advice.MaxReplicas != 30 || r.Advice.Target != 100_000 || !r.kept {
		t.Fatalf("%v %+v", err, r)
	}
	if text := r.sheet().text(); !strings.Contains(text, "a target of 100, ") ||
		!strings.Contains(text, "the target as it is, as what a Pod can do") {
		t.Error(text)
	}
}

func TestOneOfSeveral(t *testing.T) {
	record := recordingtest.Hour(recordingtest.Start, "basket", "cart")
	if out, err := run(t, record, Options{Object: "shop/cart"}); err != nil ||
		!strings.Contains(out, "FederatedHPA shop/cart: 241 decisions") {
		t.Errorf("%v\n%s", err, out)
	}
	for want, o := range map[string]Options{
		"the record is of several objects: choose one with --fhpa or --mpa NAMESPACE/NAME: shop/basket, shop/cart": {},
		"no decision of FederatedHPA shop/web is recorded; there are records of shop/basket, shop/cart": {
			Object: "shop/web",
		},
		`--fhpa: write NAMESPACE/NAME, got "cart"`: {Object: "cart"},
		"name an autoscaler as fhpa/NAME or mpa/NAME, or one file, or - for the standard input": {
			Words: []string{"a", "b"},
		},
		`--output: there is no format "yaml"; give one of text, json, html, svg`: {Format: "yaml"},
		"--sweep: write FROM:TO:STEP, such as 40:80:5, got \"4\"":                {Sweep: SweepOptions{Targets: "4"}},
		"no kubeconfig found: give --kubeconfig FILE, or set KUBECONFIG":         {Words: []string{"fhpa/cart"}},
		"FederatedHPA shop/cart: --set spec=1: only fields of the spec can be set: begin with spec": {
			Object: "shop/cart", Set: []string{"spec=1"},
		},
		"FederatedHPA shop/cart: spec.mode: what the decisions would be by another one is not known; minReplicas, maxReplicas,": {
			Object: "shop/cart", Set: []string{"spec.mode=Paused"},
		},
	} {
		if out, err := run(t, record, o); err == nil || !strings.HasPrefix(err.Error(), want) || out != "" {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// hubAt has the caller's kubeconfig lead to a hub.
func hubAt(t *testing.T, hub http.HandlerFunc) {
	t.Helper()
	server := httptest.NewTLSServer(hub) // no token is sent without
	t.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"] = &clientcmdapi.Cluster{Server: server.URL, CertificateAuthorityData: authority}
	config.AuthInfos["me"] = &clientcmdapi.AuthInfo{Token: "mine"}
	config.Contexts["hub"] = &clientcmdapi.Context{Cluster: "hub", AuthInfo: "me", Namespace: "shop"}
	config.CurrentContext = "hub"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
}

const ofCart = "/apis/history.fleetscale.io/v1alpha1/namespaces/shop/federatedhpas/cart/decisions"

// The hub is asked for one object's record, by the caller's rights.
func TestFromTheHub(t *testing.T) {
	record := recordingtest.Hour(recordingtest.Start, "cart")
	var asked *http.Request
	hubAt(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(record)
	})
	c, out := caller(nil)
	began := time.Now()
	if err := Replay(t.Context(), c, Options{Words: []string{"fhpa/cart"}, Format: "text", CutOff: 95, Since: time.Hour}); err != nil ||
		!strings.Contains(out.String(), "241 decisions") || asked.URL.Path != ofCart || asked.Header.Get("Authorization") != "Bearer mine" {
		t.Errorf("%v, asked %s", err, asked.URL)
	}
	since, err := time.Parse(time.RFC3339, asked.URL.Query().Get("since"))
	if err != nil || since.Before(began.Add(-time.Hour-time.Second)) || since.After(time.Now().Add(-time.Hour)) {
		t.Errorf("asked %s", asked.URL)
	}
	file := filepath.Join(t.TempDir(), "cart.fsr")
	if err := Record(t.Context(), c, RecordOptions{Words: []string{"federatedhpa", "cart"}, File: file}); err != nil {
		t.Fatal(err)
	}
	two := filepath.Join(t.TempDir(), "two.fsr")
	names := []string{"federatedhpa.autoscaling.karmada.io/cart", "fhpa/web"} // as kubectl get -o name has them
	if err := Record(t.Context(), c, RecordOptions{Words: names, File: two}); err != nil {
		t.Fatal(err)
	}
	if written, err := os.ReadFile(two); err != nil || !bytes.Equal(written, append(bytes.Clone(record), record...)) ||
		!strings.Contains(asked.URL.Path, "/federatedhpas/web/") {
		t.Errorf("%v, %d bytes, asked %s", err, len(written), asked.URL)
	}
	if written, err := os.ReadFile(file); err != nil || !bytes.Equal(written, record) || asked.URL.RawQuery != "" {
		t.Errorf("%v, %d bytes, asked %s", err, len(written), asked.URL)
	}
	if out, err := run(t, nil, Options{Words: []string{file}}); err != nil || !strings.Contains(out, "241 decisions") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestHubsThatRefuse(t *testing.T) {
	status := func(w http.ResponseWriter, err *apierrors.StatusError) {
		w.Header().Set("Content-Type", "application/json")
		err.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		w.WriteHeader(int(err.ErrStatus.Code))
		_ = json.NewEncoder(w).Encode(err.ErrStatus)
	}
	history := schema.GroupResource{Group: "history.fleetscale.io", Resource: "federatedhpas"}
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"no such API": {http.NotFound, "the hub does not serve history.fleetscale.io: is this the hub (--context)? If so, apply"},
		"no adapter": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		},
			"nobody serves history.fleetscale.io at present: is the metrics adapter running?"},
		"nobody has it": {func(w http.ResponseWriter, _ *http.Request) {
			status(w, apierrors.NewServiceUnavailable("no controller-manager"))
		},
			"asking for the record: no controller-manager"},
		"no right": {func(w http.ResponseWriter, _ *http.Request) {
			status(w, apierrors.NewForbidden(history, "cart", errors.New("no")))
		},
			`federatedhpas.history.fleetscale.io "cart" is forbidden: no; the ClusterRole fleetscale-history-reader has`},
		"half a record": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(recording.Magic))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "the record did not come whole: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			hubAt(t, tc.answer)
			file := filepath.Join(t.TempDir(), "cart.fsr")
			c, _ := caller(nil)
			err := Record(t.Context(), c, RecordOptions{Words: []string{"fhpa/cart"}, File: file})
			left, globbed := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) || len(left) > 0 || globbed != nil {
				t.Errorf("got %v\nwant %s\nleft %v", err, tc.want, left)
			}
		})
	}
}

// An observer is asked by its own path, and is sent no credentials.
func TestFromAnObserver(t *testing.T) {
	record := recordingtest.Hour(recordingtest.Start, "cart")
	var asked *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(record)
	}))
	defer server.Close()
	hubAt(t, func(http.ResponseWriter, *http.Request) { t.Error("the hub is asked") })
	c, out := caller(nil)
	o := Options{Words: []string{"fhpa/cart"}, Observer: server.URL, Format: "text", CutOff: 95}
	if err := Replay(t.Context(), c, o); err != nil || !strings.Contains(out.String(), "241 decisions") ||
		asked.URL.String() != recordstore.Path+"?name=cart&namespace=shop" || asked.Header.Get("Authorization") != "" {
		t.Errorf("%v, asked %s\n%s", err, asked.URL, out)
	}
	for want, o := range map[string]Options{
		`--observer: must be an address such as http://127.0.0.1:8082, got "127.0.0.1:8082"`: {
			Words: []string{"fhpa/cart"}, Observer: "127.0.0.1:8082",
		},
		`"cart.fsr" names no autoscaler: write fhpa/NAME or mpa/NAME`: {Words: []string{"cart.fsr"}, Observer: server.URL},
		`"fhpa/" names no autoscaler: write fhpa/NAME or mpa/NAME`:    {Words: []string{"fhpa/"}},
	} {
		o.Format = "text"
		if err := Replay(t.Context(), c, o); err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

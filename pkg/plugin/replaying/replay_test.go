// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordstore"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

var start = time.Date(2027, 3, 1, 9, 30, 0, 0, time.UTC)

// stream is of these FederatedHPAs of a namespace, each of an hour: half of it calm, half busy. A Pod requests 500 m, and the
// target is 50 %.
func stream(t *testing.T, names ...string) []byte {
	t.Helper()
	encoder, stream := recording.NewEncoder(), []byte(recording.Magic)
	for _, name := range names {
		current, state := int32(4), replicas.State{}
		spec := &v1alpha1.FederatedHPASpec{}
		spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name}
		spec.MinReplicas, spec.MaxReplicas = new(int32(2)), 12
		spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name:   corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(50))},
		}}}
		v1alpha1.DefaultFederatedHPA(&v1alpha1.FederatedHPA{Spec: *spec})
		for step := range 241 {
			load := int64(900)
			if step > 120 {
				load = 3600
			}
			q := question(spec, current, load, start.Add(time.Duration(step)*15*time.Second))
			q.State = state
			d := replicas.Decide(q)
			r := recording.New(recording.Object{Namespace: "shop", Name: name, UID: "1"}, spec, &q, &d)
			if d.Rescale {
				d = d.Scaled(q.Now)
				r.Outcome, r.After, current = recording.Scaled, d.Replicas, d.Replicas
			}
			state = d.State
			var err error
			if stream, err = encoder.Append(stream, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	return stream
}

func question(spec *v1alpha1.FederatedHPASpec, current int32, load int64, now time.Time) replicas.Question {
	q := replicas.Question{
		Namespace: "shop", Spec: spec.HorizontalPodAutoscalerSpec, Now: now, Clusters: []replicas.Cluster{{Name: "east"}},
		Scale:   replicas.Scale{Replicas: current, StatusReplicas: current, Selector: "app=cart"},
		Options: replicas.Options{StabilizationWindow: 5 * time.Minute, Tolerance: 0.1},
		Metrics: []replicas.Metric{{Pods: map[string]map[string]replicas.Sample{"east": {}}}},
	}
	requests := replicas.RequestsOf(&corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}}}})
	for i := range int64(current) {
		p := replicas.Pod{Name: fmt.Sprint("cart-", i), Phase: corev1.PodRunning, Started: start.Add(-time.Hour), Requests: requests,
			Ready: replicas.Ready{Status: corev1.ConditionTrue, Since: start.Add(-time.Hour)}}
		q.Clusters[0].Pods = append(q.Clusters[0].Pods, p)
		q.Metrics[0].Pods["east"][p.Name] = replicas.Sample{Value: load / int64(current), At: now}
	}
	return q
}

func caller(in io.Reader) (*plugin.Caller, *bytes.Buffer) {
	out := &bytes.Buffer{}
	return plugin.NewCaller(genericiooptions.IOStreams{In: in, Out: out, ErrOut: io.Discard}), out
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
	record := stream(t, "cart")
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
	record := stream(t, "cart")
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

func TestOneOfSeveral(t *testing.T) {
	record := stream(t, "basket", "cart")
	if out, err := run(t, record, Options{Object: "shop/cart"}); err != nil ||
		!strings.Contains(out, "FederatedHPA shop/cart: 241 decisions") {
		t.Errorf("%v\n%s", err, out)
	}
	for want, o := range map[string]Options{
		"the record is of several objects: choose one with --fhpa NAMESPACE/NAME: shop/basket, shop/cart": {},
		"no decision of FederatedHPA shop/web is recorded; there are records of shop/basket, shop/cart": {
			Object: "shop/web",
		},
		`--fhpa: write NAMESPACE/NAME, got "cart"`:                    {Object: "cart"},
		"name one file, or - for the standard input":                  {Words: []string{"a", "b"}},
		`--output: there is no format "yaml"; give one of text, json`: {Format: "yaml"},
		"--sweep: write FROM:TO:STEP, such as 40:80:5, got \"4\"":     {Sweep: SweepOptions{Targets: "4"}},
		"there is no such file; to read the record of a FederatedHPA from a controller-manager give --from": {
			Words: []string{"fhpa/cart"},
		},
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

func TestRecord(t *testing.T) {
	record := stream(t, "cart")
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path + "?" + r.URL.Query().Get("namespace") + "/" + r.URL.Query().Get("name")
		if r.URL.Query().Get("name") == "none" {
			http.Error(w, "somebody else reads the record", http.StatusTooManyRequests)
			return
		}
		_, _ = w.Write(record)
		if r.URL.Query().Get("name") == "cut" {
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	t.Setenv("KUBECONFIG", os.DevNull)
	file := filepath.Join(t.TempDir(), "cart.fsr")
	c, _ := caller(nil)
	if err := Record(t.Context(), c, RecordOptions{Words: []string{"fhpa/cart"}, From: server.URL, File: file}); err != nil {
		t.Fatal(err)
	}
	if written, err := os.ReadFile(file); err != nil || !bytes.Equal(written, record) || asked != recordstore.Path+"?default/cart" {
		t.Errorf("%v, %d bytes, asked %s", err, len(written), asked)
	}
	if out, err := run(t, nil, Options{Words: []string{file}}); err != nil || !strings.Contains(out, "241 decisions") {
		t.Errorf("%v\n%s", err, out)
	}
	other := filepath.Join(t.TempDir(), "other.fsr")
	for name, want := range map[string]string{
		"none": "asking for the record: 429 Too Many Requests: somebody else reads the record",
		"cut":  "the record did not come whole: unexpected EOF",
	} {
		err := Record(t.Context(), c, RecordOptions{Words: []string{"fhpa/" + name}, From: server.URL, File: other})
		if _, missing := os.Stat(other); err == nil || err.Error() != want || !os.IsNotExist(missing) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := Record(t.Context(), c, RecordOptions{From: "127.0.0.1:8083", File: other}); err == nil ||
		!strings.HasPrefix(err.Error(), "--from: must be the address") {
		t.Error(err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package hostile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/test/bench/faults/truth"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/stage"
)

// user asks one thing again and again.
type user struct {
	name string
	// ask also returns how long the answer took, without the time that judging it takes.
	ask func(context.Context) (truth.Judgement, time.Duration)
}

// observation is one answer to a user, and how long it took.
type observation struct {
	user string
	took time.Duration
	truth.Judgement
}

// journal has what users saw.
type journal struct {
	mu  sync.Mutex
	all []observation
}

func (j *journal) add(o observation) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.all = append(j.all, o)
}

func (j *journal) entries() []observation {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.all)
}

// latencies are those of the answers, in milliseconds.
func (j *journal) latencies() (all measure.Samples) {
	for _, o := range j.entries() {
		all = append(all, float64(o.took)/float64(time.Millisecond))
	}
	return all
}

// eachAt are the latencies of each user at a quantile, in milliseconds.
func (j *journal) eachAt(quantile float64) map[string]float64 {
	all := map[string]measure.Samples{}
	for _, o := range j.entries() {
		all[o.user] = append(all[o.user], float64(o.took)/float64(time.Millisecond))
	}
	at := map[string]float64{}
	for user, latencies := range all {
		at[user] = latencies.Quantile(quantile)
	}
	return at
}

// users are those of shop and bank.
func (s *scene) users() []user {
	everything, web := labels.Everything(), labels.SelectorFromSet(labels.Set{"app": "web"})
	list := func(namespace, accept string, selector labels.Selector) func(context.Context) (truth.Judgement, time.Duration) {
		path := "/apis/metrics.k8s.io/v1beta1/namespaces/" + namespace + "/pods?labelSelector=" + url.QueryEscape(selector.String())
		return s.asking(path, accept, func(a truth.Answer) truth.Judgement {
			return s.judge.Usage(truth.Asked{Namespace: namespace, Selector: selector}, a)
		})
	}
	var names []string
	for _, m := range s.honest {
		names = append(names, m.Name())
	}
	only := url.QueryEscape(fleet.ClusterLabel + " in (" + strings.Join(names, ",") + ")")
	const custom, external = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/" + shop,
		"/apis/external.metrics.k8s.io/v1beta1/namespaces/" + shop
	return []user{
		{"list of shop", list(shop, stage.Protobuf, everything)},
		{"list of web in shop", list(shop, stage.JSON, web)},
		{"list of bank", list(bank, stage.JSON, everything)},
		{"metric of Pods", s.asking(custom+"/pods/*/"+requests+"?labelSelector="+url.QueryEscape(web.String()), stage.JSON,
			func(a truth.Answer) truth.Judgement {
				return s.judge.Figures(truth.Asked{Namespace: shop, Selector: web}, a)
			})},
		{"metric of a Service", s.asking(custom+"/services/api/"+requests+"?metricLabelSelector="+only, stage.JSON,
			func(a truth.Answer) truth.Judgement { return s.judge.Sum(s.sum, a) })},
		{"external metric", s.asking(external+"/"+queue+"?labelSelector="+only, stage.JSON,
			func(a truth.Answer) truth.Judgement { return s.judge.Series(s.series, a) })},
		{"admission", s.admit},
	}
}

// asking asks the adapter, as the hub does when it passes questions on.
func (s *scene) asking(path, accept string, judge func(truth.Answer) truth.Judgement) func(context.Context) (truth.Judgement,
	time.Duration) {
	return func(ctx context.Context) (truth.Judgement, time.Duration) {
		a := truth.Answer{Begin: time.Now()}
		a.Code, a.Header, a.Body, a.Err = get(ctx, s.adapter.Client, s.adapter.URL+path, accept)
		a.End = time.Now()
		return judge(a), a.End.Sub(a.Begin)
	}
}

func get(ctx context.Context, client http.RoundTripper, url, accept string) (code int, header http.Header, body []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, nil, err
	}
	r.Header.Set("Accept", accept)
	resp, err := client.RoundTrip(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, body, err
}

// admit has the webhook judge a FederatedHPA of the shop, which is sound.
func (s *scene) admit(ctx context.Context) (truth.Judgement, time.Duration) {
	begin := time.Now()
	judged := s.admitted(ctx)
	return judged, time.Since(begin)
}

func (s *scene) admitted(ctx context.Context) truth.Judgement {
	o := autoscaler("web", many)
	o.Namespace = shop
	for _, path := range []string{"/mutate-federatedhpa", "/validate-federatedhpa"} {
		body, err := json.Marshal(o)
		if err != nil {
			return truth.Judgement{Verdict: truth.Broken, Because: err.Error()}
		}
		answer, err := s.review(ctx, path, shop, body)
		if err != nil {
			return truth.Judgement{Verdict: truth.Unanswered, Because: err.Error()}
		}
		if !answer.Allowed {
			return truth.Judgement{Verdict: truth.Refused, Because: fmt.Sprint(answer.Result)}
		}
	}
	return truth.Judgement{Verdict: truth.Right}
}

// review asks the webhook as the hub does.
func (s *scene) review(ctx context.Context, path, namespace string, object []byte) (*admissionv1.AdmissionResponse, error) {
	kind := metav1.GroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("FederatedHPA"))
	resource := metav1.GroupVersionResource(v1alpha1.SchemeGroupVersion.WithResource("federatedhpas"))
	review := admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{
		UID: types.UID("0"), Kind: kind, RequestKind: &kind, Resource: resource, RequestResource: &resource, Namespace: namespace, Name: "web",
		Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: withKind(object)},
	}}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	body, err := json.Marshal(review)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.admission.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := s.reviewer.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var said admissionv1.AdmissionReview
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
		return nil, fmt.Errorf("%d: %w", resp.StatusCode, err)
	}
	if said.Response == nil {
		return nil, fmt.Errorf("%d: no response", resp.StatusCode)
	}
	return said.Response, nil
}

// withKind is an object as the hub passes it on.
func withKind(object []byte) []byte {
	return bytes.Replace(object, []byte("{"), []byte(`{"apiVersion":"`+v1alpha1.SchemeGroupVersion.String()+`","kind":"FederatedHPA",`), 1)
}

// watching has all users ask until it is ended, which returns what they saw.
func (s *scene) watching(ctx context.Context) (end func() *journal) {
	const pause = 100 * time.Millisecond
	ctx, cancel := context.WithCancel(ctx)
	j := &journal{}
	var asking sync.WaitGroup
	for _, u := range s.users() {
		asking.Go(func() {
			for measure.Pass(ctx, pause) == nil {
				patient, done := context.WithTimeout(context.WithoutCancel(ctx), 5*deadline) // the last one is waited for too
				judged, took := u.ask(patient)
				done()
				j.add(observation{u.name, took, judged})
			}
		})
	}
	return func() *journal {
		cancel()
		asking.Wait()
		return j
	}
}

// fault is what a user may complain of: a wrong, missing, refused or late answer. Only strangers may be missing, and have to be named.
func (o observation) fault(honest []string) string {
	late := deadline
	if testing.Short() { // beside other tests
		late = 4 * deadline
	}
	switch {
	case o.took > late:
		return fmt.Sprintf("it took %v", o.took.Round(time.Millisecond))
	case o.Verdict == truth.Right:
		return ""
	case o.Verdict == truth.Partial:
		for _, missing := range strings.Split(o.Because, ", ") {
			if slices.Contains(honest, missing) {
				return missing + ", which is honest, is missing"
			}
		}
		return ""
	}
	return fmt.Sprintf("%s: %s", o.Verdict, o.Because)
}

// unharmed fails the test where a user has a complaint.
func (s *scene) unharmed(t *testing.T, j *journal) {
	t.Helper()
	var honest []string
	for _, m := range s.honest {
		honest = append(honest, m.Name())
	}
	answers, faults, first := map[string]int{}, map[string]int{}, map[string]string{}
	for _, o := range j.entries() {
		answers[o.user]++
		if fault := o.fault(honest); fault != "" {
			if faults[o.user]++; faults[o.user] == 1 {
				first[o.user] = fault
			}
		}
	}
	for _, u := range s.users() {
		switch {
		case answers[u.name] == 0:
			t.Errorf("%s: no answer at all", u.name)
		case faults[u.name] > 0:
			t.Errorf("%s: %d of %d answers; the first: %.600s", u.name, faults[u.name], answers[u.name], first[u.name])
		}
	}
}

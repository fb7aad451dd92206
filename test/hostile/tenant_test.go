// SPDX-License-Identifier: Apache-2.0

package hostile_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/test/bench/stage"
)

// Of a tenant: how many autoscalers, and how many ask at once.
const (
	autoscalers = 300
	askers      = 24
	reviewers   = 4
)

// tenant does what one may who has rights in the namespace mallory alone: asks, and writes autoscalers. It asks from a process of its
// own, of the least priority: within this one its threads would hold up the hub, the members and the users, which are here too.
func (s *scene) tenant(t *testing.T) (end func()) {
	t.Helper()
	told, err := json.Marshal(victims{s.adapter.URL, s.hub.RESTConfig().BearerToken, s.admission.URL, poisoned(t)})
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	asking := exec.CommandContext(t.Context(), "nice", "-n", "19", os.Args[0])
	asking.Env = append(os.Environ(), ofVictims+"="+string(told))
	asking.Stdout, asking.Stderr = &said, &said
	stay, err := asking.StdinPipe()
	if err == nil {
		err = asking.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for n := range autoscalers {
		if err := s.hub.Put(ofTenants(n)); err != nil {
			t.Error(err)
		}
	}
	return func() {
		_ = stay.Close()
		if err := asking.Wait(); err != nil {
			t.Errorf("the tenant: %v: %s", err, said.String())
		}
		t.Logf("the tenant got %s", said.String())
		for n := range autoscalers {
			s.remove(t, "/apis/"+v1alpha1.SchemeGroupVersion.String()+"/namespaces/"+mallory+"/federatedhpas/"+ofTenants(n).Name)
		}
	}
}

// victims are what a tenant's process is told of those whom it floods.
type victims struct {
	Adapter, Token, Webhook string

	Poison []byte
}

// ofVictims is the variable that tells them; with it this program is that process.
const ofVictims = "FLEETSCALE_HOSTILE_VICTIMS"

func TestMain(m *testing.M) {
	told := os.Getenv(ofVictims)
	if told == "" {
		m.Run()
		return
	}
	if err := flood(told); err != nil {
		panic(err) // a process that ends so has failed
	}
}

// flood asks as fast as it is answered, until its input ends.
func flood(told string) error {
	var v victims
	if err := json.Unmarshal([]byte(told), &v); err != nil {
		return err
	}
	config := &rest.Config{Host: v.Adapter, BearerToken: v.Token}
	config.Insecure = true
	adapter, err := stage.NewServer(config, 0)
	if err != nil {
		return err
	}
	s := &scene{adapter: &stage.Program{Server: adapter}, admission: &stage.Webhook{URL: v.Webhook}, reviewer: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: reviewers, //nolint:gosec // who attacks does not care
	}}
	ctx, stop := context.WithCancelCause(context.Background())
	var busy sync.WaitGroup
	var answers, reviews atomic.Int64
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop(nil)
	}()
	for i := range askers {
		busy.Go(func() { s.ask(ctx, i, &answers) })
	}
	for range reviewers {
		busy.Go(func() { s.poison(ctx, v.Poison, &reviews, stop) })
	}
	busy.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	fmt.Printf("%d answers, %d reviews", answers.Load(), reviews.Load())
	if answers.Load() == 0 || reviews.Load() == 0 {
		return errors.New(": that is no flood")
	}
	return nil
}

// ask asks the adapter one question after the other, and counts the answers. What they are matters to nobody.
func (s *scene) ask(ctx context.Context, i int, answers *atomic.Int64) {
	for n := 0; ctx.Err() == nil; n++ {
		patient, done := context.WithTimeout(ctx, deadline)
		if _, _, _, err := get(patient, s.adapter.Client, s.adapter.URL+ofTenant(n*askers+i), stage.JSON); err == nil {
			answers.Add(1)
		}
		done()
	}
}

// poison has the webhook judge what takes forever to parse, one time after the other, and counts the verdicts.
func (s *scene) poison(ctx context.Context, object []byte, reviews *atomic.Int64, failed context.CancelCauseFunc) {
	for n := 0; ctx.Err() == nil; n++ {
		path := []string{"/mutate-federatedhpa", "/validate-federatedhpa"}[n%2]
		patient, done := context.WithTimeout(ctx, deadline)
		if answer, err := s.review(patient, path, mallory, object); err == nil {
			if reviews.Add(1); answer.Allowed {
				failed(fmt.Errorf("%s: a quantity that takes forever was allowed", path))
			}
		}
		done()
	}
}

// ofTenant are questions of a namespace, each a new one.
func ofTenant(n int) string {
	const usage, custom, external = "/apis/metrics.k8s.io/v1beta1/namespaces/" + mallory,
		"/apis/custom.metrics.k8s.io/v1beta2/namespaces/" + mallory, "/apis/external.metrics.k8s.io/v1beta1/namespaces/" + mallory
	other := url.QueryEscape(fmt.Sprintf("a!=%d", n))
	all := []string{
		usage + "/pods?labelSelector=" + other,
		custom + "/pods/*/" + requests + "?labelSelector=" + other,
		custom + "/services/api/" + requests + "?metricLabelSelector=" + other,
		custom + fmt.Sprintf("/services/api/metric-%d", n),
		external + "/" + queue + "?labelSelector=" + other,
		external + fmt.Sprintf("/metric-%d", n),
		// Into the vault, by names with slashes and dots.
		custom + "/namespaces/" + vault + "/" + requests,
		custom + "/namespaces/*/" + requests,
		custom + "/services/..%2F..%2F" + vault + "%2Fservices%2Fapi/" + requests,
		custom + "/services/api/..%2F..%2F..%2F" + vault + "%2Fservices%2Fapi%2F" + requests,
		custom + "/services%2Fapi%2F..%2F..%2F..%2F" + vault + "%2Fservices/api/" + requests,
		custom + "/services/%2E%2E/" + requests,
		external + "/..%2F" + vault + "%2F" + queue,
		external + "/%2E%2E",
		usage + "/pods/..%2F..%2F" + vault + "%2Fpods%2Fweb-0",
	}
	return all[n%len(all)]
}

// poisoned is an autoscaler whose target takes forever to parse.
func poisoned(t *testing.T) []byte {
	t.Helper()
	o := ofTenants(0)
	o.Spec.Metrics[0].External.Target.AverageValue = new(resource.MustParse(memberstest.Stand))
	body, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(body, []byte(memberstest.Stand), []byte(memberstest.Endless))
}

// ofTenants is one autoscaler of many, each with a question of its own.
func ofTenants(n int) *v1alpha1.FederatedHPA {
	o := autoscaler(fmt.Sprintf("mallory-%d", n), many)
	o.Namespace = mallory
	o.Spec.ScaleTargetRef.Name = "web"
	o.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: queue,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"n": fmt.Sprint(n)}}},
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: resource.NewQuantity(1, resource.DecimalSI)},
	}}}
	return o
}

// remove deletes an object of the hub.
func (s *scene) remove(t *testing.T, path string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, s.hub.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.asHub.RoundTrip(r)
	if err != nil {
		t.Error(err)
		return
	}
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK {
		t.Errorf("deleting %s: %s", path, resp.Status)
	}
}

// SPDX-License-Identifier: Apache-2.0

package byzantine

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/guard"
	"github.com/fleetscale/fleetscale/pkg/wire"
	"github.com/fleetscale/fleetscale/test/sim"
)

const (
	// brief is how long an answer without an end is read.
	brief = 500 * time.Millisecond
	// patience is with large answers on a busy machine.
	patience = time.Minute
)

const (
	pods  = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods"
	watch = "/api/v1/namespaces/shop/pods?watch=true"
	uid   = "/api/v1/namespaces/kube-system"
)

// scene is a byzantine member, and one whose uid may be claimed.
type scene struct {
	*Member

	victim *sim.Member
	client http.RoundTripper
	config *rest.Config
}

func newScene(t *testing.T) *scene {
	t.Helper()
	fleet, err := sim.New(t.Context(), sim.Options{Members: 2, Resolution: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fleet.Close() })
	s := &scene{victim: fleet.Members()[1]}
	if err := fleet.Members()[0].Run(sim.Workload{Namespace: "shop", Name: "web", Replicas: 2}); err != nil {
		t.Fatal(err)
	}
	if s.Member, err = New(t.Context(), fleet.Members()[0]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	kubeconfig, err := s.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	if s.config, err = clientcmd.RESTConfigFromKubeConfig(kubeconfig); err != nil {
		t.Fatal(err)
	}
	s.config.QPS, s.config.AcceptContentTypes = -1, "application/vnd.kubernetes.protobuf"
	if s.client, err = rest.TransportFor(s.config); err != nil {
		t.Fatal(err)
	}
	return s
}

// said is what a client has of an answer when its patience ends.
type said struct {
	code   int
	header http.Header
	body   []byte
	err    error
}

// ask reads up to 64 MiB, for so long.
func (s *scene) ask(t *testing.T, path string, atMost time.Duration) (got said) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), atMost)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/vnd.kubernetes.protobuf,application/json")
	resp, err := s.client.RoundTrip(r)
	if err != nil {
		return said{err: err}
	}
	defer resp.Body.Close()
	got.code, got.header = resp.StatusCode, resp.Header
	got.body, got.err = io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	return got
}

func (s *scene) targets() Targets {
	return Targets{Victim: s.victim, Elsewhere: []string{"http://169.254.169.254"}, Deadline: brief, Namespaces: []string{"bank", "shop"}}
}

// What is asked, and how it is told that the attack does what it is called.
var attacked = map[string]struct {
	path string
	did  func(*scene, said) bool
}{
	"bomb": {pods, func(_ *scene, s said) bool { return len(s.body) == 64<<20 }},
	"drip": {pods, func(_ *scene, s said) bool {
		return s.code == http.StatusOK && len(s.body) <= 2 &&
			timedOut(s.err)
	}},
	"list without end":              {pods, func(_ *scene, s said) bool { return bytes.Contains(s.body, []byte(`"continue":"`)) }},
	"events without end":            {watch, func(_ *scene, s said) bool { return bytes.Count(s.body, []byte("ADDED")) > 1000 }},
	"bookmarks without end":         {watch, func(_ *scene, s said) bool { return bytes.Count(s.body, []byte("BOOKMARK")) > 1000 }},
	"an event without end":          {watch, func(_ *scene, s said) bool { return bytes.Count(s.body, []byte("a")) > 1<<20 }},
	"quantities":                    {pods, func(_ *scene, s said) bool { return bytes.Contains(s.body, []byte("1e-2147483648")) }},
	"digits":                        {pods, func(_ *scene, s said) bool { return bytes.Contains(s.body, bytes.Repeat([]byte("9"), 10<<20)) }},
	"uid of another":                {uid, func(sc *scene, s said) bool { return bytes.Contains(s.body, []byte(uidOf(sc.victim))) }},
	"another time":                  {uid, func(_ *scene, s said) bool { return yearsOff(s.header) }},
	"other namespaces":              {pods, func(_ *scene, s said) bool { return bytes.Contains(s.body, []byte(`"namespace":"bank"`)) }},
	"one name half a million times": {pods, func(_ *scene, s said) bool { return itemsIn(s.body) > 500_000 }},
	"millions of nothing":           {pods, func(_ *scene, s said) bool { return len(s.body) > 40_000_000 && len(s.body) < 41_000_000 }},
	"many series":                   {pods, func(_ *scene, s said) bool { return itemsIn(s.body) > 100_000 }},
	"many metrics": {"/apis/external.metrics.k8s.io/v1beta1",
		func(_ *scene, s said) bool { return bytes.Count(s.body, []byte(`"name":"m-`)) == 500_000 }},
	"bad protobuf":                   {pods, func(_ *scene, s said) bool { return itemsIn(s.body) < 0 }},
	"bad JSON":                       {pods, func(_ *scene, s said) bool { return strings.Contains(s.header.Get("Content-Type"), "json") }},
	"garbage":                        {pods, func(_ *scene, s said) bool { return bytes.Contains(s.body, []byte("<html>")) }},
	"headers":                        {pods, func(_ *scene, s said) bool { return len(s.header) > 200 || s.err != nil }},
	"streams that break":             {pods, func(_ *scene, s said) bool { return s.err != nil && !timedOut(s.err) }},
	"connections that break":         {pods, func(_ *scene, s said) bool { return s.err != nil && !timedOut(s.err) }},
	"connections that are sent away": {pods, func(_ *scene, s said) bool { return s.err == nil && itemsIn(s.body) == 2 }},
	"settings and pings":             {pods, func(_ *scene, s said) bool { return timedOut(s.err) }},
	"no word":                        {pods, func(_ *scene, s said) bool { return timedOut(s.err) }},
	"redirects": {pods, func(_ *scene, s said) bool {
		return strings.HasPrefix(s.header.Get("Location"), "http://169.254.169.254"+Stolen)
	}},
	"too late": {pods, func(_ *scene, s said) bool { return timedOut(s.err) }},
	"refusals": {pods, func(_ *scene, s said) bool { return s.code >= 400 && s.header.Get("Retry-After") != "" }},
}

// unending are those whose answers do not end by themselves, or too late.
var unending = []string{"drip", "events without end", "bookmarks without end", "an event without end", "settings and pings", "no word",
	"too late"}

func timedOut(err error) bool { return errors.Is(err, context.DeadlineExceeded) }

func yearsOff(header http.Header) bool {
	date, err := http.ParseTime(header.Get("Date"))
	return err == nil && time.Since(date).Abs() > 365*24*time.Hour
}

func uidOf(m *sim.Member) string {
	client, err := kubernetes.NewForConfig(m.RESTConfig())
	if err != nil {
		return err.Error()
	}
	system, err := client.CoreV1().Namespaces().Get(context.Background(), metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	return string(system.UID)
}

// itemsIn counts those of a list of PodMetrics in protobuf; -1 of what is none.
func itemsIn(body []byte) int {
	list := &metricsv1beta1.PodMetricsList{}
	whole := unwrappedOrNil(body)
	if whole == nil {
		return -1
	}
	if _, err := guard.TypeOf(list).Protobuf(whole.Raw); err != nil || list.Unmarshal(whole.Raw) != nil { // one has no end
		return -1
	}
	return len(list.Items)
}

func TestEachAttackDoesWhatItIsCalled(t *testing.T) {
	s := newScene(t)
	seen := map[string]bool{}
	for _, a := range Attacks(s.targets()) {
		t.Run(a.Name, func(t *testing.T) {
			want, found := attacked[a.Name]
			if !found || seen[a.Name] {
				t.Fatal("nobody knows what it should do, or it is there twice")
			}
			seen[a.Name] = true
			s.Attack(a, false)
			atMost := patience
			if slices.Contains(unending, a.Name) {
				atMost = brief
			}
			got := s.ask(t, want.path, atMost)
			if a.socket != nil && !timedOut(got.err) {
				got = s.ask(t, want.path, atMost) // the connection of before was broken
			}
			if !want.did(s, got) {
				t.Errorf("it did not: %d, %.200v, %d bytes (%.100q), %v", got.code, got.header, len(got.body), got.body, got.err)
			}
			s.Behave()
			if got = s.ask(t, pods, patience); a.socket != nil && got.err != nil {
				got = s.ask(t, pods, patience) // as above
			}
			if got.err != nil || itemsIn(got.body) != 2 {
				t.Errorf("it does not end: %d, %.100q, %v", got.code, got.body, got.err)
			}
		})
	}
	if len(seen) != len(attacked) {
		t.Errorf("%d attacks, want %d", len(seen), len(attacked))
	}
}

// A member that is attacked with everything has no honest probe.
func TestEverythingIsAttacked(t *testing.T) {
	s := newScene(t)
	if got := s.ask(t, uid, patience); got.err != nil || got.code != http.StatusOK {
		t.Fatalf("%+v", got)
	}
	for _, everything := range []bool{false, true} {
		s.Attack(Attack{Name: "refusals", serve: refusals()}, everything)
		if got := s.ask(t, uid, patience); got.err != nil || (got.code != http.StatusOK) != everything {
			t.Errorf("everything %v: %d, %v", everything, got.code, got.err)
		}
	}
}

// Answers that never end by themselves end with the attack.
func TestAnswersEndWithTheAttack(t *testing.T) {
	s := newScene(t)
	s.Attack(Attack{Name: "drip", serve: drip}, false)
	ended := make(chan said)
	go func() {
		client := &http.Client{Transport: s.client}
		resp, err := client.Get(s.URL() + pods)
		if err != nil {
			ended <- said{err: err}
			return
		}
		defer resp.Body.Close()
		s.Behave()
		body, err := io.ReadAll(resp.Body)
		ended <- said{body: body, err: err}
	}()
	select {
	case got := <-ended:
		if got.err != nil || len(got.body) == 0 {
			t.Errorf("%+v", got)
		}
	case <-time.After(10 * time.Second):
		t.Error("it still drips")
	}
}

// Each has a certificate of its own: nobody vouches for another.
func TestCertificatesAreTheirOwn(t *testing.T) {
	a, b := newScene(t), newScene(t)
	if bytes.Equal(a.authority, b.authority) || bytes.Equal(a.authority, a.victim.Authority()) {
		t.Error("two members share an authority")
	}
	conn, err := tls.Dial("tcp", strings.TrimPrefix(b.URL(), "https://"), &tls.Config{RootCAs: poolOf(a.authority), ServerName: "127.0.0.1"})
	if err == nil {
		_ = conn.Close()
		t.Error("one is taken for the other")
	}
}

// Honest clients see no difference while nothing is attacked.
func TestItIsHonestUntilItAttacks(t *testing.T) {
	s := newScene(t)
	client, err := kubernetes.NewForConfig(s.config)
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 2 || list.Items[0].Status.Phase != corev1.PodRunning {
		t.Errorf("%v, %v", fmt.Sprint(len(list.Items)), err)
	}
}

func poolOf(authority []byte) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	return pool
}

func unwrappedOrNil(body []byte) *runtime.Unknown {
	whole := &runtime.Unknown{}
	if whole.Unmarshal(bytes.TrimPrefix(body, []byte(wire.Magic))) != nil {
		return nil
	}
	return whole
}

// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

const (
	here  = "clusters"
	there = "clusters-write"
	life  = 3 * time.Hour
)

// hub has Secrets, by namespace/name.
type hub struct {
	mu       sync.Mutex
	revision int
	secrets  map[string]*corev1.Secret
	failing  error  // of writes
	before   func() // a write
}

func (h *hub) put(namespace, name string, data map[string][]byte, annotations ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.revision++
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(namespace + name), ResourceVersion: strconv.Itoa(h.revision),
		Annotations: map[string]string{},
	}, Data: data}
	for _, a := range annotations {
		key, value, _ := strings.Cut(a, "=")
		s.Annotations[key] = value
	}
	h.secrets[namespace+"/"+name] = s
}

func (h *hub) remove(namespace, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.secrets, namespace+"/"+name)
}

// Versions implements Hub.
func (h *hub) Versions(_ context.Context, namespace, _ string) (map[string]string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	versions := map[string]string{}
	for _, s := range h.secrets {
		if s.Namespace == namespace {
			versions[s.Name] = s.ResourceVersion
		}
	}
	return versions, nil
}

// Get implements Hub.
func (h *hub) Get(_ context.Context, namespace, name string) (*corev1.Secret, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.secrets[namespace+"/"+name].DeepCopy(), nil
}

// Put implements Hub.
func (h *hub) Put(_ context.Context, read *corev1.Secret, key string, value []byte) error {
	if h.before != nil {
		h.before()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	stored := h.secrets[read.Namespace+"/"+read.Name]
	switch {
	case h.failing != nil:
		return h.failing
	case stored == nil || stored.ResourceVersion != read.ResourceVersion || stored.UID != read.UID:
		return apierrors.NewConflict(corev1.Resource("secrets"), read.Name, errors.New("it was changed"))
	}
	h.revision++
	changed := stored.DeepCopy()
	changed.Data = maps.Clone(changed.Data)
	changed.Data[key], changed.ResourceVersion = value, strconv.Itoa(h.revision)
	h.secrets[read.Namespace+"/"+read.Name] = changed
	return nil
}

// cluster is the API server of a member.
type cluster struct {
	*httptest.Server
	clock *clocktesting.FakePassiveClock

	mu       sync.Mutex
	accepted map[string]bool                                                     // tokens
	issue    func(subject string, spec authenticationv1.TokenRequestSpec) string // nil: as an API server does
	answer   http.HandlerFunc                                                    // to requests for tokens, in place of that
	asked    []string
}

func newCluster(t *testing.T, clock *clocktesting.FakePassiveClock) *cluster {
	c := &cluster{clock: clock, accepted: map[string]bool{}}
	c.Server = httptest.NewUnstartedServer(c)
	c.StartTLS()
	t.Cleanup(c.Close)
	return c
}

// ServeHTTP implements http.Handler.
func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	who, _ := claimsOf(given)
	c.asked = append(c.asked, r.Method+" as "+who.account.Name)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case !c.accepted[given]:
		http.Error(w, `{"kind":"Status","apiVersion":"v1","code":401,"message":"`+given+`"}`, http.StatusUnauthorized)
	case r.Method == http.MethodGet:
		fmt.Fprint(w, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system","uid":"u"}}`)
	case c.answer != nil:
		c.answer(w, r)
	default:
		c.give(w, r)
	}
}

func (c *cluster) give(w http.ResponseWriter, r *http.Request) {
	var request authenticationv1.TokenRequest
	parts := strings.Split(r.URL.Path, "/")
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || len(parts) != 8 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	subject := "system:serviceaccount:" + parts[4] + ":" + parts[6]
	if c.issue != nil {
		request.Status.Token = c.issue(subject, request.Spec)
	} else {
		request.Status.Token = token(subject, c.clock.Now(), time.Duration(*request.Spec.ExpirationSeconds)*time.Second,
			with("aud", request.Spec.Audiences))
		c.accepted[request.Status.Token] = true
	}
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(request)
}

func (c *cluster) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// takeAsked are the requests since it was called last.
func (c *cluster) takeAsked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.asked
	c.asked = nil
	return all
}

// kubeconfig leads to it with a token that it accepts from now on.
func (c *cluster) kubeconfig(t *testing.T, token string, edits ...func(*clientcmdapi.Config)) []byte {
	c.set(func() { c.accepted[token] = true })
	return c.unaccepted(t, token, edits...)
}

func (c *cluster) unaccepted(t *testing.T, token string, edits ...func(*clientcmdapi.Config)) []byte {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate().Raw})
	return registrationtest.Kubeconfig(t, append([]func(*clientcmdapi.Config){
		registrationtest.OnCluster(func(k *clientcmdapi.Cluster) { k.Server, k.CertificateAuthorityData = c.URL, ca }),
		registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) { u.Token = token }),
	}, edits...)...)
}

// stage is a hub with a registration, east, and what renews its tokens.
type stage struct {
	*hub
	*cluster
	*Renewer
	time     *clocktesting.FakePassiveClock
	events   *record.FakeRecorder
	registry *prometheus.Registry
	silence  error
}

func newStage(t *testing.T) *stage {
	s := &stage{
		hub: &hub{secrets: map[string]*corev1.Secret{}}, time: clocktesting.NewFakePassiveClock(noon),
		events: record.NewFakeRecorder(100), registry: prometheus.NewRegistry(),
	}
	s.cluster = newCluster(t, s.time)
	s.Renewer = New(Options{
		Hub: s.hub, Registrations: registration.Options{Namespace: here, WriteNamespace: there},
		Listed:      func(name string) (string, error) { return name, s.silence },
		Connections: connection.Options{AllowLocal: true, Timeout: 5 * time.Second},
		Clock:       s.time, Events: s.events, Metrics: NewMetrics(s.registry),
	})
	return s
}

// register puts both credentials, issued now.
func (s *stage) register(t *testing.T) {
	s.put(here, "east", data(s.kubeconfig(t, token(reader, s.time.Now(), life))))
	s.put(there, "east", data(s.kubeconfig(t, token(writer, s.time.Now(), life))))
}

func data(kubeconfig []byte) map[string][]byte { return map[string][]byte{"kubeconfig": kubeconfig} }

// at is the time after noon of what is done next.
func (s *stage) at(t *testing.T, after time.Duration) {
	t.Helper()
	s.time.SetTime(noon.Add(after))
	if err := s.pass(memberstest.Logged(t)); err != nil {
		t.Fatal(err)
	}
}

// expiries are when the tokens on the hub expire, after noon: of the one that reads, and of the one that writes.
func (s *stage) expiries(t *testing.T) string {
	t.Helper()
	var all []string
	for _, namespace := range []string{here, there} {
		secret, _ := s.Get(t.Context(), namespace, "east")
		if secret == nil {
			continue
		}
		held, faults := registration.HeldIn(registration.Options{Namespace: namespace}, secret, nil)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		c, ok := claimsOf(held.Endpoint.Token())
		if !ok {
			t.Fatalf("%s holds no token", namespace)
		}
		all = append(all, c.account.Name+" "+c.expires.Sub(noon).String())
	}
	return strings.Join(all, ", ")
}

// told are the Events since it was called last.
func (s *stage) told() (all []string) {
	for {
		select {
		case e := <-s.events.Events:
			all = append(all, e)
		default:
			return all
		}
	}
}

func (s *stage) expect(t *testing.T, what, want, got string) {
	t.Helper()
	fleettest.Same(t, what, want, got)
}

const bothOld = "fleetscale-read 3h0m0s, fleetscale-write 3h0m0s"

func TestBothAreRenewedAtTwoThirds(t *testing.T) {
	s := newStage(t)
	s.register(t)
	s.at(t, 0)
	s.at(t, 119*time.Minute)
	s.expect(t, "before", bothOld, s.expiries(t))
	if asked := s.takeAsked(); len(asked) > 0 {
		t.Errorf("the member was asked for %v", asked)
	}
	s.at(t, 2*time.Hour)
	s.expect(t, "the first pass", "fleetscale-read 3h0m0s, fleetscale-write 5h0m0s", s.expiries(t))
	s.at(t, 2*time.Hour+period)
	s.expect(t, "the second pass", "fleetscale-read 5h0m30s, fleetscale-write 5h0m0s", s.expiries(t))
	want := []string{
		"GET as fleetscale-write", "POST as fleetscale-write", "GET as fleetscale-write",
		"GET as fleetscale-read", "POST as fleetscale-write", "GET as fleetscale-read",
	}
	fleettest.Same(t, "the member was asked", want, s.takeAsked())
	s.at(t, 2*time.Hour+2*period)
	if asked := append(s.takeAsked(), s.told()...); len(asked) > 0 {
		t.Errorf("afterwards: %v", asked)
	}
	if err := testutil.GatherAndCompare(s.registry, strings.NewReader(fmt.Sprintf(`
# HELP fleetscale_cluster_token_expiry_timestamp_seconds When the token of a registration Secret expires, in Unix time; +Inf: never. The credential is read or write.
# TYPE fleetscale_cluster_token_expiry_timestamp_seconds gauge
fleetscale_cluster_token_expiry_timestamp_seconds{cluster="east",credential="read"} %d
fleetscale_cluster_token_expiry_timestamp_seconds{cluster="east",credential="write"} %d
# HELP fleetscale_cluster_token_renewals_total Attempts to renew the token of a registration Secret, by result: Renewed, Failed, or Refused, where the member returned what is not used.
# TYPE fleetscale_cluster_token_renewals_total counter
fleetscale_cluster_token_renewals_total{cluster="east",credential="read",result="Renewed"} 1
fleetscale_cluster_token_renewals_total{cluster="east",credential="write",result="Renewed"} 1
`, noon.Add(5*time.Hour+period).Unix(), noon.Add(5*time.Hour).Unix()))); err != nil {
		t.Error(err)
	}
	s.remove(here, "east")
	s.at(t, 3*time.Hour)
	if n, err := testutil.GatherAndCount(s.registry); n != 0 || err != nil {
		t.Errorf("%d series are left of a registration that is gone, %v", n, err)
	}
}

// When tokens expire is shown to others, for as long as they are there.
func TestExpiriesAreShown(t *testing.T) {
	s := newStage(t)
	s.register(t)
	s.at(t, 0)
	shown, _ := s.Expiries()
	fleettest.Same(t, "shown", map[string]time.Time{"east": noon.Add(life)}, shown)
	s.Listed = func(string) (string, error) { return "west", nil }
	s.at(t, period)
	shown, _ = s.Expiries()
	fleettest.Same(t, "shown of what has another name", map[string]time.Time{"west": noon.Add(life)}, shown)
	for _, namespace := range []string{here, there} {
		s.put(namespace, "east", data(s.kubeconfig(t, "s3cret")))
	}
	s.at(t, 2*period)
	shown, _ = s.Expiries()
	fleettest.Same(t, "shown of what are no tokens", map[string]time.Time{}, shown)
}

// What is shown of a cluster stays if another registration had its name just before, whichever is seen to first.
func TestNameOfAnother(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			h := &hub{secrets: map[string]*corev1.Secret{}}
			for _, name := range []string{"a", "b"} {
				h.put(here, name, data(registrationtest.Kubeconfig(t, registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) {
					u.Token = token(writer, noon, life)
				}))))
			}
			listed := map[string]string{"a": "east"}
			r := New(Options{
				Hub: h, Registrations: registration.Options{Namespace: here}, Clock: clocktesting.NewFakePassiveClock(noon),
				Listed: func(name string) (string, error) {
					synctest.Wait() // until who was seen to before is done with
					return listed[name], nil
				},
				Events: record.NewFakeRecorder(100), Metrics: NewMetrics(prometheus.NewRegistry()),
			})
			for _, next := range []map[string]string{{"a": "west", "b": "east"}, nil} {
				if err := r.pass(t.Context()); err != nil {
					t.Fatal(err)
				}
				listed = next
			}
			shown, _ := r.Expiries()
			fleettest.Same(t, "shown", map[string]time.Time{"east": noon.Add(life), "west": noon.Add(life)}, shown)
		})
	}
}

// hanging is a hub that answers no Get before it is free.
type hanging struct {
	*hub
	asked atomic.Int32
	free  chan struct{}
}

func (h *hanging) Get(context.Context, string, string) (*corev1.Secret, error) {
	h.asked.Add(1)
	<-h.free
	return nil, nil
}

// Many registrations are not seen to at once.
func TestSomeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{hub: &hub{secrets: map[string]*corev1.Secret{}}, free: make(chan struct{})}
		for i := range 2 * mostAtOnce {
			h.put(here, strconv.Itoa(i), nil)
		}
		r := New(Options{
			Hub: h, Registrations: registration.Options{Namespace: here}, Clock: clocktesting.NewFakePassiveClock(noon),
			Listed: func(name string) (string, error) { return name, nil }, Metrics: NewMetrics(prometheus.NewRegistry()),
		})
		go func() { _ = r.pass(t.Context()) }()
		synctest.Wait()
		if n := h.asked.Load(); n != mostAtOnce {
			t.Errorf("%d are seen to at once, want %d", n, mostAtOnce)
		}
		close(h.free)
	})
}

func TestMetricsAreWellNamed(t *testing.T) {
	s := newStage(t)
	s.register(t)
	s.at(t, 2*time.Hour)
	if problems, err := testutil.GatherAndLint(s.registry); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

// A member may return what it likes: what works is kept, and the attempt is repeated, with pauses.
func TestHostileAnswers(t *testing.T) {
	answers := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	returns := func(edits ...func(said)) func(*stage) {
		return func(s *stage) {
			s.issue = func(subject string, spec authenticationv1.TokenRequestSpec) string {
				one := token(subject, s.time.Now(), time.Duration(*spec.ExpirationSeconds)*time.Second, edits...)
				s.accepted[one] = true
				return one
			}
		}
	}
	tests := map[string]struct {
		set    func(*stage)
		result string
		event  string
	}{
		"another account":        {returns(with("sub", "system:serviceaccount:kube-system:admin")), resultRefused, "a token of another account"},
		"the account that reads": {returns(with("sub", reader)), resultRefused, "a token of another account"},
		"no end":                 {returns(without("exp")), resultRefused, "a token that never expires"},
		"a hundred years":        {returns(with("exp", noon.Add(100*365*24*time.Hour).Unix())), resultRefused, "a token with a life of"},
		"an instant": {returns(with("exp", noon.Add(2*time.Hour+time.Second).Unix())),
			resultRefused, "does not outlast the present one"},
		"another audience": {returns(with("aud", []string{"vault"})), resultRefused, "a token for another audience"},
		"a large token":    {returns(with("x", strings.Repeat("x", mostToken))), resultRefused, "no token of a ServiceAccount"},
		"a huge answer":    {returns(with("x", strings.Repeat("x", 2*mostAnswer))), resultFailed, "/token: TooLarge: "},
		"no token": {func(s *stage) { s.issue = func(string, authenticationv1.TokenRequestSpec) string { return "a: b" } },
			resultRefused, "no token of a ServiceAccount"},
		"a token that it does not accept": {func(s *stage) {
			s.issue = func(subject string, _ authenticationv1.TokenRequestSpec) string {
				return token(subject, s.time.Now(), life)
			}
		}, resultFailed, "does not accept the token that it issued: 401"},
		"no answer": {func(s *stage) { s.answer = answers(http.StatusCreated, "") }, resultFailed, "issues no token: "},
		"another kind": {func(s *stage) { s.answer = answers(http.StatusCreated, `{"kind":"Pod","apiVersion":"v1"}`) },
			resultRefused, "no token of a ServiceAccount"},
		"a web page": {func(s *stage) { s.answer = answers(http.StatusOK, "<html>") }, resultFailed, "issues no token: "},
		"no right": {func(s *stage) { s.answer = answers(http.StatusForbidden, "") },
			resultFailed, "403: the identity that writes lacks the right to create tokens"},
		"no account": {func(s *stage) { s.answer = answers(http.StatusNotFound, "") }, resultFailed, "404: there is no such account"},
		"a failure":  {func(s *stage) { s.answer = answers(http.StatusInternalServerError, "") }, resultFailed, "500"},
		"what it was sent": {func(s *stage) { s.answer = echo },
			resultFailed, "issues no token: POST /api/v1/namespaces/fleetscale-member/serviceaccounts/fleetscale-write/token: 400"},
		"it redirects": {func(s *stage) {
			s.answer = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			}
		}, resultFailed, "issues no token: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.register(t)
			s.put(here, "east", data(s.kubeconfig(t, token(reader, noon.Add(time.Hour), life)))) // is not due
			s.set(func() { tc.set(s) })
			s.at(t, 2*time.Hour)
			s.expect(t, "on the hub", "fleetscale-read 4h0m0s, fleetscale-write 3h0m0s", s.expiries(t))
			told := s.told()
			if len(told) != 1 || !strings.HasPrefix(told[0], "Warning TokenRenewalFailed ") || !strings.Contains(told[0], tc.event) {
				t.Errorf("told: %q, want %q", told, tc.event)
			}
			for _, event := range told {
				if strings.Contains(event, "c2lnbmVk") {
					t.Errorf("the Event shows a token: %s", event)
				}
			}
			attempts := func() float64 {
				return testutil.ToFloat64(s.Metrics.renewals.WithLabelValues("east", "write", tc.result))
			}
			s.at(t, 2*time.Hour+period-time.Second)
			if attempts() != 1 {
				t.Errorf("%v attempts at once", attempts())
			}
			s.at(t, 2*time.Hour+period)
			s.at(t, 2*time.Hour+2*period)
			if attempts() != 2 {
				t.Errorf("%v attempts within a minute, want 2", attempts())
			}
			s.set(func() { s.issue, s.answer = nil, nil })
			s.at(t, 2*time.Hour+5*time.Minute)
			s.expect(t, "once it answers", "fleetscale-read 4h0m0s, fleetscale-write 5h5m0s", s.expiries(t))
		})
	}
}

func echo(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusBadRequest)
	_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":400,"message":%q,"reason":%[1]q}`,
		r.Header.Get("Authorization"))
}

// What is not to be renewed is unchanged: the member is not asked, and what somebody should know is told once.
func TestLeftAlone(t *testing.T) {
	other := func(k *clientcmdapi.Cluster) { k.Server += "/elsewhere" }
	tests := map[string]struct {
		put  func(*testing.T, *stage)
		want []string // Events, of each a part
	}{
		"opted out": {func(t *testing.T, s *stage) {
			s.put(here, "east", data(s.kubeconfig(t, token(reader, noon, life))), RenewAnnotation+"=false")
		}, nil},
		"nobody writes there": {func(_ *testing.T, s *stage) { s.remove(there, "east") },
			[]string{"TokenNotRenewed the token that reads expires at 2026-06-01T15:00:00Z and nobody renews it: " +
				"the registration has no credential of deploy/member-write"}},
		"they never expire": {func(t *testing.T, s *stage) {
			s.put(here, "east", data(s.kubeconfig(t, token(reader, noon, life, without("exp")))))
			s.put(there, "east", data(s.kubeconfig(t, token(writer, noon, life, without("exp")))))
		}, []string{"TokenNeverExpires the token that writes", "TokenNeverExpires the token that reads"}},
		"the one that reads leads elsewhere": {func(t *testing.T, s *stage) {
			s.put(here, "east", data(s.kubeconfig(t, token(reader, noon, life), registrationtest.OnCluster(other))))
			s.put(there, "east", data(s.kubeconfig(t, token(writer, noon.Add(time.Hour), life))))
		}, []string{"the credential that writes leads to another server"}},
		"the one that reads claims to be the one that writes": {func(t *testing.T, s *stage) {
			s.put(here, "east", data(s.unaccepted(t, token(writer, noon, life))))
			s.put(there, "east", data(s.kubeconfig(t, token(writer, noon.Add(time.Hour), life))))
		}, []string{"not one of the ServiceAccount fleetscale-member/fleetscale-read"}},
		"both have expired": {func(_ *testing.T, s *stage) { s.time.SetTime(noon.Add(life)) },
			[]string{"the token that writes expired at 2026-06-01T15:00:00Z", "the token that reads expired at"}},
		"no tokens": {func(t *testing.T, s *stage) {
			s.put(here, "east", data(s.kubeconfig(t, "s3cret")))
			s.put(there, "east", data(s.kubeconfig(t, "s3cret")))
		}, nil},
		"no kubeconfigs": {func(_ *testing.T, s *stage) {
			s.put(here, "east", data([]byte("{")))
			s.put(there, "east", nil)
		}, nil},
		"not registered": {func(_ *testing.T, s *stage) { s.Listed = func(string) (string, error) { return "", nil } }, nil},
		"silent":         {func(_ *testing.T, s *stage) { s.silence = fleet.Silencef(fleet.ReasonTimeout, "no answer") }, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.register(t)
			tc.put(t, s)
			before := s.secretsNow()
			after := max(s.time.Now().Sub(noon), 2*time.Hour+30*time.Minute)
			s.at(t, after)
			s.at(t, after+period)
			told := s.told()
			if len(told) != len(tc.want) {
				t.Fatalf("told %q, want %q", told, tc.want)
			}
			for i := range told {
				if !strings.Contains(told[i], tc.want[i]) {
					t.Errorf("told %q, want %q", told[i], tc.want[i])
				}
			}
			if asked := s.takeAsked(); len(asked) > 0 {
				t.Errorf("the member was asked for %v", asked)
			}
			fleettest.Same(t, "the hub was written to", before, s.secretsNow())
		})
	}
}

// secretsNow are copies of what the hub has.
func (s *stage) secretsNow() map[string]*corev1.Secret {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return maps.Clone(s.secrets)
}

// Who makes up a token, with claims as they should be, is given none.
func TestTokenThatNobodyIssued(t *testing.T) {
	s := newStage(t)
	s.register(t)
	s.put(here, "east", data(s.unaccepted(t, token(reader, noon.Add(-time.Minute), life))))
	s.put(there, "east", data(s.kubeconfig(t, token(writer, noon.Add(time.Hour), life))))
	s.at(t, 2*time.Hour)
	fleettest.Same(t, "the member was asked", []string{"GET as fleetscale-read"}, s.takeAsked())
	if told := s.told(); len(told) != 1 || !strings.Contains(told[0], "does not accept the present token: 401") {
		t.Errorf("told %q", told)
	}
}

// Of what somebody else writes meanwhile nothing is lost.
func TestSecretThatChangesMeanwhile(t *testing.T) {
	s := newStage(t)
	s.register(t)
	theirs := s.kubeconfig(t, token(writer, noon.Add(time.Hour), life))
	s.before = func() {
		s.before = nil
		s.put(there, "east", data(theirs))
	}
	s.at(t, 2*time.Hour)
	s.expect(t, "on the hub", "fleetscale-read 3h0m0s, fleetscale-write 4h0m0s", s.expiries(t))
	s.at(t, 2*time.Hour+period)
	s.expect(t, "afterwards", "fleetscale-read 5h0m30s, fleetscale-write 4h0m0s", s.expiries(t))
	if told := s.told(); len(told) > 0 {
		t.Errorf("told %q", told)
	}
}

func TestHubThatRefuses(t *testing.T) {
	s := newStage(t)
	s.register(t)
	s.failing = apierrors.NewForbidden(corev1.Resource("secrets"), "east", errors.New("no"))
	s.at(t, 2*time.Hour)
	s.expect(t, "on the hub", bothOld, s.expiries(t))
	told := s.told()
	if len(told) != 2 || !strings.Contains(told[0], "could not be written to Secret clusters-write/east (Forbidden)") {
		t.Errorf("told %q", told)
	}
}

// Where both flags name one namespace, the one credential is that which writes.
func TestOneCredentialForBoth(t *testing.T) {
	s := newStage(t)
	s.Registrations.WriteNamespace = here
	s.put(here, "east", data(s.kubeconfig(t, token(writer, noon, life))))
	s.at(t, 2*time.Hour)
	s.expect(t, "on the hub", "fleetscale-write 5h0m0s", s.expiries(t))
	s.at(t, 2*time.Hour+period)
	if told := s.told(); len(told) > 0 {
		t.Errorf("told %q", told)
	}
}

// Secrets of the older form hold both credentials, and keep both.
func TestBothCredentialsInOneSecret(t *testing.T) {
	s := newStage(t)
	s.put(here, "east", map[string][]byte{
		"kubeconfig":      s.kubeconfig(t, token(writer, noon, life)),
		"kubeconfig-read": s.kubeconfig(t, token(reader, noon, life)),
	})
	s.at(t, 2*time.Hour)
	s.at(t, 2*time.Hour+period)
	s.takeAsked()
	s.at(t, 3*time.Hour)
	if asked := append(s.takeAsked(), s.told()...); len(asked) > 0 {
		t.Errorf("afterwards: %v", asked)
	}
	for _, c := range []credential{reads, writes} {
		if n := testutil.ToFloat64(s.Metrics.renewals.WithLabelValues("east", string(c), resultRenewed)); n != 1 {
			t.Errorf("what %ss was renewed %v times, want once", c, n)
		}
	}
}

// A leader that begins late, or again, renews what is due, one that is told twice keeps to its pauses.
func TestMemberThatIsBackIsAskedAtOnce(t *testing.T) {
	s := newStage(t)
	s.register(t)
	s.silence = fleet.Silencef(fleet.ReasonTimeout, "no answer")
	s.at(t, 2*time.Hour)
	s.silence = nil
	s.at(t, 2*time.Hour+period)
	s.at(t, 2*time.Hour+2*period)
	s.expect(t, "on the hub", "fleetscale-read 5h1m0s, fleetscale-write 5h0m30s", s.expiries(t))
}

// A visit for one credential neither changes the pause of the other, nor repeats what was told of it.
func TestCredentialsDoNotDisturbEachOther(t *testing.T) {
	s := newStage(t)
	s.register(t)
	s.put(here, "east", data(s.kubeconfig(t, token(reader, noon.Add(10*time.Second), life))))
	s.set(func() {
		s.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }
	})
	s.at(t, 2*time.Hour)
	s.at(t, 2*time.Hour+10*time.Second)
	for _, c := range []credential{reads, writes} {
		if n := testutil.ToFloat64(s.Metrics.renewals.WithLabelValues("east", string(c), resultFailed)); n != 1 {
			t.Errorf("%v attempts to renew what %ss, want 1", n, c)
		}
	}
	s.at(t, 2*time.Hour+firstRetry)
	if n := testutil.ToFloat64(s.Metrics.renewals.WithLabelValues("east", string(writes), resultFailed)); n != 2 {
		t.Errorf("%v attempts to renew what writes after its pause, want 2", n)
	}

	s = newStage(t)
	s.register(t)
	s.put(here, "east", data(s.kubeconfig(t, token(reader, noon.Add(time.Hour), life),
		registrationtest.OnCluster(func(k *clientcmdapi.Cluster) { k.Server += "/elsewhere" }))))
	for _, after := range []time.Duration{0, 2 * time.Hour, 2*time.Hour + period} {
		s.at(t, after)
	}
	s.expect(t, "on the hub", "fleetscale-read 4h0m0s, fleetscale-write 5h0m0s", s.expiries(t))
	if told := s.told(); len(told) != 1 {
		t.Errorf("told %q, want one", told)
	}
}

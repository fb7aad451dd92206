// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

// running is a registry at work, with a hub of its own. Periods are short, so
// that what takes seconds takes a fraction of one; the deadline is not, since the
// machine may be busy.
type running struct {
	*Registry

	t   *testing.T
	log func() string
}

func start(t *testing.T, h *memberstest.Hub, edits ...func(*Options)) *running {
	t.Helper()
	o := optionsOf(t, h)
	o.ProbePeriod, o.DiscoveryPeriod = 40*time.Millisecond, 20*time.Millisecond
	for _, edit := range edits {
		edit(&o)
	}
	r := New(o)
	return &running{Registry: r, t: t, log: runRegistry(t, r)}
}

// joined is a registry with one member, east, that is ready.
func joined(t *testing.T, edits ...func(*Options)) (*memberstest.Hub, *fakeMember, *running) {
	t.Helper()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	hub.Put(t, east.secret(t, "east"))
	r := start(t, hub, edits...)
	r.becomes("east=Ready")
	return hub, east, r
}

func optionsOf(t testing.TB, h *memberstest.Hub) Options {
	typed, untyped := h.Clients(t)
	return Options{
		Hub: typed, HubDynamic: untyped, Registrations: registration.Options{Namespace: "fleet"},
		Connections: connection.Options{AllowLocal: true},
	}
}

// impatiently is for tests that wait for a deadline.
func impatiently(o *Options) { o.Connections.Timeout = time.Second }

func runRegistry(t *testing.T, r *Registry) (log func() string) {
	ctx := memberstest.Logged(t)
	memberstest.Run(ctx, t, r.Run)
	return klog.FromContext(ctx).GetSink().(ktesting.Underlier).GetBuffer().String
}

// summary is the fleet in one line: names and reasons.
func (r *running) summary() string { return summary(r.Members()) }

func summary(members []*Member) string {
	var words []string
	for _, m := range members {
		words = append(words, m.Name()+"="+string(m.State().Reason))
	}
	return strings.Join(words, " ")
}

func (r *running) becomes(want string) {
	r.t.Helper()
	memberstest.Eventually(r.t, want, r.summary)
}

func (r *running) member(name string) *Member {
	r.t.Helper()
	for _, m := range r.Members() {
		if m.Name() == name {
			return m
		}
	}
	r.t.Fatalf("no member %s in %q", name, r.summary())
	return nil
}

// ask reads the pods' metrics of a member as the adapter would.
func ask(ctx context.Context, m *Member) (string, error) {
	body, err := m.MetricsClient().Get().AbsPath("/apis/metrics.k8s.io/v1beta1/pods").DoRaw(ctx)
	return string(body), err
}

func (r *running) asks(name, wantFrom string) {
	r.t.Helper()
	got, err := ask(r.t.Context(), r.member(name))
	if err != nil {
		r.t.Fatalf("asking %s: %v", name, err)
	}
	if want := fmt.Sprintf(`"from":%q`, wantFrom); !strings.Contains(got, want) {
		r.t.Errorf("%s answered %s, want %s", name, got, want)
	}
}

func reasonOf(err error) fleet.Reason {
	var silence *fleet.Silence
	if errors.As(err, &silence) {
		return silence.Reason
	}
	return ""
}

// isReplaced is true for a request of a client whose connection has been replaced.
func isReplaced(err error) bool {
	return err != nil && strings.Contains(err.Error(), "the connection was replaced or the cluster has left")
}

func TestJoinAndLeave(t *testing.T) {
	t.Parallel()
	hub, east, west := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	hub.Put(t, east.secret(t, "east"))
	r := start(t, hub, func(o *Options) { o.Connections.UserAgent = "fleetscale-test" })
	r.becomes("east=Ready")
	r.asks("east", "1")
	if got, _ := ask(t.Context(), r.member("east")); !strings.Contains(got, `"agent":"fleetscale-test"`) {
		t.Errorf("answer = %s, want the user agent in it", got)
	}

	hub.Put(t, west.secret(t, "west"))
	r.becomes("east=Ready west=Ready")
	pointer := r.member("east")

	hub.Put(t, west.secret(t, "west", func(s *corev1.Secret) { s.Labels = nil }))
	r.becomes("east=Ready")
	hub.Put(t, west.secret(t, "west"))
	r.becomes("east=Ready west=Ready")
	hub.Remove(memberstest.FleetSecretsPath, "west")
	r.becomes("east=Ready")
	memberstest.Eventually(t, "0 open", func() string { return fmt.Sprintf("%d open", west.open.Load()) })
	asked := west.requests.Load()
	memberstest.Eventually(t, "ended", func() string { // the former client ends with the deadline, if not at once
		if east.probes.Load() > 20 {
			return "ended"
		}
		return "not yet"
	})
	if now := west.requests.Load(); now != asked {
		t.Errorf("%d requests to a cluster that has left", now-asked)
	}
	if r.member("east") != pointer {
		t.Error("another cluster's coming and going made east another member")
	}
}

func TestOnlyLabelledSecretsAreRead(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	hub.Put(t, east.secret(t, "east"))
	hub.Put(t, east.secret(t, "other", func(s *corev1.Secret) { s.Labels = map[string]string{registration.MemberLabel: "false"} }))
	hub.Karmada = true
	hub.Put(t, karmadaObject(newFakeMember(t, "2"), "south"))
	r := start(t, hub)
	r.becomes("east=Ready south=MissingCredentials")
	for _, q := range hub.SecretQueries() {
		path, query, _ := strings.Cut(q, "?")
		selector := map[string]string{
			"/api/v1/namespaces/fleet/secrets":           "labelSelector=fleetscale.io%2Fmember%3Dtrue",
			"/api/v1/namespaces/karmada-cluster/secrets": "fieldSelector=metadata.name%3Dsouth",
		}[path]
		if !strings.Contains(query, "Selector=") || !strings.Contains(query, selector) {
			t.Errorf("read %s: neither the label nor one name is selected", q)
		}
	}
}

func TestLabelsFollowWithoutReconnecting(t *testing.T) {
	t.Parallel()
	hub, east, r := joined(t)
	m, client := r.member("east"), r.member("east").Client()
	hub.Put(t, east.secret(t, "east", func(s *corev1.Secret) {
		s.Labels = map[string]string{registration.MemberLabel: "true", "tier": "gold", corev1.LabelTopologyRegion: "eu"}
	}))
	memberstest.Eventually(t, "gold eu", func() string { return m.Labels()["tier"] + " " + m.Topology().Region })
	for _, price := range []string{"0.5", "0.25", "0"} {
		hub.Put(t, east.secret(t, "east", registrationtest.Annotated("fleetscale.io/price-cpu-hour", price)))
		memberstest.Eventually(t, price, func() string {
			if p := m.Prices().CPUHour; p != nil {
				return fmt.Sprint(*p)
			}
			return "not said"
		})
	}
	hub.Put(t, east.secret(t, "east", registrationtest.Annotated(registration.CreateInAnnotation, "shop")))
	memberstest.Eventually(t, "shop", func() string { return strings.Join(m.Creation().Namespaces, ",") })
	hub.Put(t, east.secret(t, "east"))
	memberstest.Eventually(t, "", func() string { return strings.Join(m.Creation().Namespaces, ",") })
	if r.member("east") != m || m.Client() != client || east.opened.Load() != 1 {
		t.Errorf("new labels made another member or connection (%d opened)", east.opened.Load())
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	hub, east, r := joined(t, impatiently)
	m, old := r.member("east"), r.member("east").Client()

	east.set(func() { east.token = "n3w" }) // as if the old one had expired
	r.becomes("east=Forbidden")
	want := "401 to GET /api/v1/namespaces/kube-system: the cluster does not accept the registration's token or certificate; it may have " +
		"expired"
	if got := m.State().Message; got != want {
		t.Errorf("message = %q, want %q", got, want)
	}
	if got := reasonOf(m.Silence()); got != fleet.ReasonForbidden {
		t.Errorf("Silence() has reason %q, want Forbidden", got)
	}
	hub.Put(t, east.secret(t, "east"))
	r.becomes("east=Ready")
	r.asks("east", "1")
	if r.member("east") != m || m.Client() == old {
		t.Error("rotation must keep the member and change its client")
	}
	memberstest.Eventually(t, "replaced", func() string {
		if _, err := old.Get().AbsPath("/apis/metrics.k8s.io/v1beta1/pods").DoRaw(t.Context()); isReplaced(err) {
			return "replaced"
		}
		return "in use"
	})
	memberstest.Eventually(t, "1 open", func() string { return fmt.Sprintf("%d open", east.open.Load()) })
}

// A registration is known by its object, also while it is a spare, which is not listed.
func TestRegistered(t *testing.T) {
	t.Parallel()
	hub, east, r := joined(t)
	registered := func(source, object string) string {
		cluster, silence := r.Registered(source, object)
		return fmt.Sprintf("%s %v", cluster, silence)
	}
	hub.Put(t, east.secret(t, "spare"))
	memberstest.Eventually(t, "spare <nil>", func() string { return registered("secret", "spare") })
	memberstest.Eventually(t, "east", func() string { return r.ClusterOf("secret", "spare") }) // it is a spare of that one
	for object, want := range map[string]string{"secret/east": "east", "secret/west": "", "karmada/east": "", "none/east": ""} {
		source, name, _ := strings.Cut(object, "/")
		if got := r.ClusterOf(source, name); got != want {
			t.Errorf("%s stands for %q, want %q", object, got, want)
		}
	}
	for object, want := range map[string]string{
		"secret/east": "east <nil>", "secret/west": " <nil>", "karmada/east": " <nil>", "none/east": " <nil>",
	} {
		source, name, _ := strings.Cut(object, "/")
		if got := registered(source, name); got != want {
			t.Errorf("%s is %q, want %q", object, got, want)
		}
	}
	r.becomes("east=Ready")
	east.set(func() { east.token = "n3w" })
	memberstest.Eventually(t, "Forbidden", func() string {
		_, silence := r.Registered("secret", "east")
		return string(reasonOf(silence))
	})
}

func TestRotationIsInvisibleToCallers(t *testing.T) {
	t.Parallel()
	hub, east, r := joined(t)
	since := r.member("east").State().Since
	for i := range 20 {
		hub.Put(t, registrationtest.Secret(east.kubeconfig(t,
			registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) { u.ImpersonateUID = fmt.Sprint(i) }))))
		r.asks("east", "1")
	}
	if state := r.member("east").State(); !state.Ready || !state.Since.Equal(since) {
		t.Errorf("state = %+v, want ready since %v", state, since)
	}
}

func TestChangeOfAddress(t *testing.T) {
	t.Parallel()
	hub, east, moved := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "1")
	hub.Put(t, east.secret(t, "east"))
	r := start(t, hub)
	r.becomes("east=Ready")
	m := r.member("east")
	hub.Put(t, moved.secret(t, "east"))
	memberstest.Eventually(t, "moved", func() string {
		if moved.probes.Load() > 1 {
			return "moved"
		}
		return "not yet"
	})
	r.becomes("east=Ready")
	if r.member("east") != m {
		t.Error("the same cluster at another address became another member")
	}
	memberstest.Eventually(t, "0 open", func() string { return fmt.Sprintf("%d open", east.open.Load()) })
}

func TestAnotherClusterUnderTheNameIsAnotherMember(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*memberstest.Hub, *fakeMember){
		"by its registration": func(hub *memberstest.Hub, _ *fakeMember) {
			hub.Put(t, newFakeMember(t, "2").secret(t, "east"))
		},
		"behind its address": func(_ *memberstest.Hub, east *fakeMember) { east.set(func() { east.uid = "2" }) },
	}
	for name, replace := range tests {
		t.Run(name, func(t *testing.T) {
			hub, east, r := joined(t)
			former := r.member("east")
			replace(hub, east)
			memberstest.Eventually(t, "another", func() string {
				if m := r.member("east"); m != former && m.State().Ready {
					return "another"
				}
				return "the former"
			})
			r.asks("east", "2")
			if got, err := ask(t.Context(), former); err == nil && strings.Contains(got, `"from":"2"`) {
				t.Error("the former member leads to the new cluster")
			}
		})
	}
}

func TestFirstContactFailsThenWorks(t *testing.T) {
	tests := map[string]struct {
		fail, fix func(*fakeMember)
		want      fleet.Reason
		message   string
	}{
		"hanging": {(*fakeMember).freeze, (*fakeMember).thaw, fleet.ReasonTimeout, "no answer within the deadline"},
		"overloaded": {
			func(m *fakeMember) { m.set(func() { m.code = 503 }) }, func(m *fakeMember) { m.set(func() { m.code = 0 }) },
			fleet.ReasonServerError, "503 to GET /api/v1/namespaces/kube-system",
		},
		"without rights": {
			func(m *fakeMember) { m.set(func() { m.code = 403 }) }, func(m *fakeMember) { m.set(func() { m.code = 0 }) },
			fleet.ReasonForbidden, "403 to GET /api/v1/namespaces/kube-system: the registration's identity lacks rights in the cluster; grant " +
				"those of deploy/member",
		},
		"no API server": {
			func(m *fakeMember) { m.set(func() { m.uid = "" }) }, func(m *fakeMember) { m.set(func() { m.uid = "1" }) },
			fleet.ReasonBadAnswer, "the answer to GET /api/v1/namespaces/kube-system is no namespace with a uid: is the address that of a " +
				"Kubernetes API server?",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
			tc.fail(east)
			hub.Put(t, east.secret(t, "east"))
			r := start(t, hub, impatiently)
			r.becomes("east=" + string(tc.want))
			m := r.member("east")
			if got := m.State(); got.Message != tc.message || !got.Contacted {
				t.Errorf("state = %+v, want contacted, with message %q", got, tc.message)
			}
			since := m.State().Since
			tc.fix(east)
			r.becomes("east=Ready")
			if !m.State().Since.After(since) {
				t.Errorf("ready since %v, silent since %v", m.State().Since, since)
			}
			if r.member("east") != m || m.Silence() != nil || m.State().LastSuccess.IsZero() {
				t.Errorf("after recovery: %+v, %v; want the same member, ready, with a success", m.State(), m.Silence())
			}
		})
	}
}

func TestWrongAuthority(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	ca, _ := registrationtest.SelfSigned()
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t,
		registrationtest.OnCluster(func(c *clientcmdapi.Cluster) { c.CertificateAuthorityData = ca }))))
	r := start(t, hub)
	r.becomes("east=CertificateInvalid")
	hub.Put(t, east.secret(t, "east"))
	r.becomes("east=Ready")
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	_, east, r := joined(t)
	east.CloseClientConnections()
	east.Listener.Close()
	east.CloseClientConnections()
	r.becomes("east=Unreachable")
}

func TestHangingMemberDelaysNobody(t *testing.T) {
	t.Parallel()
	hub, east, west := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	west.freeze()
	hub.Put(t, east.secret(t, "east"))
	hub.Put(t, west.secret(t, "west"))
	r := start(t, hub, func(o *Options) { o.Connections.Timeout = time.Hour })
	r.becomes("east=Ready west=NotContacted")
	if err := r.Settled(); err == nil || err.Error() != "waiting for first contact with west" {
		t.Errorf("Settled() = %v, want it to wait for west", err)
	}
	south := newFakeMember(t, "3")
	hub.Put(t, south.secret(t, "south"))
	r.becomes("east=Ready south=Ready west=NotContacted")
	hub.Remove(memberstest.FleetSecretsPath, "east")
	r.becomes("south=Ready west=NotContacted")
	memberstest.Eventually(t, "0 open", func() string { return fmt.Sprintf("%d open", east.open.Load()) }) // long before the deadline
	hub.Remove(memberstest.FleetSecretsPath, "west")
	r.becomes("south=Ready")
}

func TestEveryRequestIsBounded(t *testing.T) {
	t.Parallel()
	_, east, r := joined(t, func(o *Options) { o.Connections.Timeout, o.ProbePeriod = time.Second, time.Hour })
	east.freeze()
	if _, err := ask(t.Context(), r.member("east")); err == nil {
		t.Fatal("a frozen member answered")
	} else if silence, _ := fleet.Classify(err); silence.Reason != fleet.ReasonTimeout {
		t.Errorf("error = %v, want it to be a time-out", err)
	}
	r.becomes("east=Timeout") // long before the hour is over: the failure caused a probe
}

func TestOwnLimitIsBoundedAndSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	hub.Put(t, east.secret(t, "east"))
	r := start(t, hub, func(o *Options) {
		o.Connections.Timeout, o.Connections.QPS, o.Connections.Burst = time.Second, 0.001, 1
	})
	r.becomes("east=Ready")
	r.asks("east", "1")
	_, err := ask(t.Context(), r.member("east"))
	want := "RateLimited: our own limit of requests to this cluster (--member-qps, --member-burst) is reached"
	if silence, _ := fleet.Classify(err); silence == nil || silence.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
	r.becomes("east=Ready") // probes are not under the limit
}

func TestRefusedRegistrationIsListedAndNeverAsked(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	insecure := registrationtest.OnCluster(func(c *clientcmdapi.Cluster) { c.InsecureSkipTLSVerify, c.CertificateAuthorityData = true, nil })
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t, insecure)))
	r := start(t, hub)
	r.becomes("east=InsecureNotAllowed")
	m := r.member("east")
	memberstest.Eventually(t, "settled", func() string {
		if r.Settled() == nil {
			return "settled"
		}
		return "waiting"
	})
	if _, err := ask(t.Context(), m); reasonOf(err) != "InsecureNotAllowed" {
		t.Errorf("asking it: %v, want InsecureNotAllowed", err)
	}
	if n := east.requests.Load(); n != 0 {
		t.Errorf("%d requests went to a refused cluster", n)
	}
	hub.Put(t, east.secret(t, "east"))
	r.becomes("east=Ready")
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t, insecure)))
	r.becomes("east=InsecureNotAllowed")
	if _, err := ask(t.Context(), r.member("east")); reasonOf(err) != "InsecureNotAllowed" {
		t.Errorf("asking it after it had been accepted: %v, want InsecureNotAllowed", err)
	}
	memberstest.Eventually(t, "0 open", func() string { return fmt.Sprintf("%d open", east.open.Load()) })
}

func TestAllNamespacesAreNeverRead(t *testing.T) {
	hub := memberstest.NewHub(t)
	o := optionsOf(t, hub)
	o.Registrations.Namespace = ""
	if err := New(o).Run(t.Context()); err == nil || len(hub.SecretQueries()) > 0 {
		t.Errorf("Run() = %v after asking %q, want an error and no question", err, hub.SecretQueries())
	}
}

func TestReasonMayChangeWhileSilenceLasts(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	east.code = 503
	hub.Put(t, east.secret(t, "east"))
	r := start(t, hub)
	r.becomes("east=ServerError")
	since := r.member("east").State().Since
	east.set(func() { east.code = 403 })
	r.becomes("east=Forbidden")
	if got := r.member("east").State().Since; !got.Equal(since) {
		t.Errorf("silent since %v, want %v", got, since)
	}
}

// What a probe finds out is discarded when the registration has changed meanwhile.
func TestRegistrationChangesDuringAProbe(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	east.freeze()
	hub.Put(t, east.secret(t, "east"))
	r := start(t, hub, func(o *Options) { o.Connections.Timeout = 2 * time.Second })
	r.becomes("east=NotContacted")
	memberstest.Eventually(t, "asked", func() string {
		if east.requests.Load() > 0 {
			return "asked"
		}
		return ""
	})
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t,
		registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) { u.Exec = &clientcmdapi.ExecConfig{Command: "aws"} }))))
	r.becomes("east=ExecNotAllowed")
	east.thaw()
	memberstest.Eventually(t, "0 open", func() string { return fmt.Sprintf("%d open", east.open.Load()) })
	r.becomes("east=ExecNotAllowed")
}

func TestSettledWaitsForTheHubAndThenForNobody(t *testing.T) {
	t.Parallel()
	hub, west := memberstest.NewHub(t), newFakeMember(t, "2")
	frozen := make(chan struct{})
	hub.Frozen = frozen
	r := start(t, hub, func(o *Options) { o.Connections.Timeout = time.Hour })
	memberstest.Eventually(t, "waiting for the hub's identity", func() string { return orSettled(r.Settled()) })
	close(frozen)
	r.settles()
	west.freeze()
	hub.Put(t, west.secret(t, "west"))
	r.becomes("west=NotContacted")
	if err := r.Settled(); err != nil {
		t.Errorf("Settled() = %v: a cluster that joins takes us out of service", err)
	}
}

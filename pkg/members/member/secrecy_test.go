// SPDX-License-Identifier: Apache-2.0

package member

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/tools/record"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

// TestNothingSecretIsShown drives registrations through all that may go wrong,
// servers that repeat what they were sent included, and reads everything that
// people may see.
func TestNothingSecretIsShown(t *testing.T) {
	t.Parallel()
	const secret = "t0p-s3cret"
	token := registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) { u.Token = secret })
	echo := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		// A server's malformed answer is quoted by net/http.
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(conn, "%s%s\r\n\r\n", req.Header.Get("Authorization"), strings.Repeat("x", 1000))
		conn.Close()
	}))
	t.Cleanup(echo.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(conn, "HTTP/1.1 407 %s refused\r\n\r\n", secret)
		conn.Close()
	}))
	t.Cleanup(proxy.Close)
	proxyURL, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxyURL.User = url.UserPassword("me", secret)

	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	mEcho := &fakeMember{Server: echo, token: secret}
	hub.Put(t, registrationtest.Secret(mEcho.kubeconfig(t), registrationtest.Named("echo")))
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t, token), registrationtest.Named("expired")))
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t, token,
		registrationtest.OnCluster(func(c *clientcmdapi.Cluster) { c.ProxyURL = proxyURL.String() })),
		registrationtest.Named("proxied")))
	hub.Put(t, registrationtest.Secret([]byte(secret+": [: }"), registrationtest.Named("garbage")))
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t,
		registrationtest.OnCluster(func(c *clientcmdapi.Cluster) { c.Server = "https://me:" + secret + "@host" })),
		registrationtest.Named("userinfo")))
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t, registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) {
		u.ClientCertificateData, u.ClientKeyData = []byte(secret), []byte(secret)
	})), registrationtest.Named("pair")))

	recorder := record.NewFakeRecorder(1000)
	reg := prometheus.NewPedanticRegistry()
	r := start(t, hub, func(o *Options) { o.Recorder, o.Metrics = recorder, NewMetrics(reg) })
	r.becomes("echo=Unreachable expired=Forbidden garbage=InvalidKubeconfig pair=InvalidKubeconfig proxied=Unreachable " +
		"userinfo=InvalidKubeconfig")

	var shown strings.Builder
	for _, m := range r.Members() {
		_, err := ask(t.Context(), m)
		fmt.Fprintln(&shown, m.State().Message, m.Silence(), err)
		if message := m.State().Message; len(message) > 400 {
			t.Errorf("%s: the message has %d bytes", m.Name(), len(message))
		}
	}
	for len(recorder.Events) > 0 {
		fmt.Fprintln(&shown, <-recorder.Events)
	}
	fmt.Fprintln(&shown, r.log(), series(t, reg))
	for line := range strings.Lines(shown.String()) {
		if strings.Contains(line, secret) {
			t.Errorf("shown: %s", line)
		}
	}
	if got := r.member("echo").State().Message; !strings.Contains(got, "[redacted]") {
		t.Errorf("message = %q: the server repeated nothing, so nothing was tested", got)
	}
	if got := r.member("proxied").State().Message; !strings.Contains(got, "[redacted]") {
		t.Errorf("message = %q: the proxy repeated nothing, so nothing was tested", got)
	}
}

func TestEventsAndLogsOncePerChange(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	recorder := record.NewFakeRecorder(1000)
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t,
		registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) { u.Exec = &clientcmdapi.ExecConfig{Command: "aws"} }))))
	r := start(t, hub, func(o *Options) { o.Recorder = recorder })
	r.becomes("east=ExecNotAllowed")
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t,
		registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) { u.Exec = &clientcmdapi.ExecConfig{Command: "gke"} }))))
	memberstest.Eventually(t, "gke", func() string {
		if strings.Contains(r.member("east").State().Message, `"gke"`) {
			return "gke"
		}
		return ""
	})
	hub.Put(t, east.secret(t, "east"))
	r.becomes("east=Ready")
	east.set(func() { east.code = 503 })
	r.becomes("east=ServerError")
	east.set(func() { east.code = 401 })
	r.becomes("east=Forbidden")
	probes := east.requests.Load()
	memberstest.Eventually(t, "probed again", func() string {
		if east.requests.Load() > probes+5 {
			return "probed again"
		}
		return ""
	})
	hub.Remove(memberstest.FleetSecretsPath, "east")
	r.becomes("")
	memberstest.Eventually(t, "left", func() string {
		if strings.Contains(r.log(), "Cluster left") {
			return "left"
		}
		return ""
	})

	exec := func(command string) string {
		return `the kubeconfig's user runs the command "` + command +
			`" for its credentials; use a token or a client certificate, or allow the command line with --allowed-exec-commands`
	}
	wantEvents := []string{
		"Warning ExecNotAllowed " + exec("aws"),
		"Warning ExecNotAllowed " + exec("gke"),
		"Warning Forbidden 401 to GET /api/v1/namespaces/kube-system: the cluster does not accept the registration's token or certificate; it " +
			"may have expired",
	}
	for _, want := range wantEvents {
		if got := <-recorder.Events; got != want {
			t.Errorf("event = %q, want %q", got, want)
		}
	}
	if n := len(recorder.Events); n > 0 {
		t.Errorf("%d more events, the first: %s", n, <-recorder.Events)
	}
	var messages []string
	for line := range strings.Lines(r.log()) {
		if _, after, found := strings.Cut(line, "] "); found {
			line = after
		}
		line = strings.TrimPrefix(line, "INFO ")
		if reason := field(line, "reason="); strings.Contains(line, "Cluster ") {
			messages = append(messages, strings.TrimSpace(line[:strings.Index(line, " cluster=")]+" "+reason))
		}
	}
	want := "Cluster is not ready ExecNotAllowed,Cluster is not ready ExecNotAllowed,Cluster is ready,Cluster is not ready " +
		"ServerError,Cluster is not ready Forbidden,Cluster left"
	if got := strings.Join(messages, ","); got != want {
		t.Errorf("log = %q, want %q; whole:\n%s", got, want, r.log())
	}
}

func TestWarningsAreToldOnceAndRefuseNothing(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	recorder := record.NewFakeRecorder(1000)
	priced := func(cpu, gib string) {
		hub.Put(t, east.secret(t, "east", registrationtest.Annotated("fleetscale.io/price-cpu-hour", cpu),
			registrationtest.Annotated("fleetscale.io/price-gib-hour", gib)))
	}
	priced("0,5", "-1")
	r := start(t, hub, func(o *Options) { o.Recorder = recorder })
	r.becomes("east=Ready")
	for _, change := range [][2]string{{"0,5", "0.25"}, {"free", "0.5"}, {"1", "1.5"}} {
		priced(change[0], change[1])
		memberstest.Eventually(t, change[1], func() string {
			if p := r.member("east").Prices().GiBHour; p != nil {
				return fmt.Sprint(*p)
			}
			return "not said"
		})
	}
	for _, of := range []string{`cpu-hour: "0,5"`, `gib-hour: "-1"`, `cpu-hour: "free"`} {
		want := "Warning InvalidPrice annotation fleetscale.io/price-" + of +
			" is no price and is ignored; write a decimal number from 0 to 1000000, such as 0.025, in at most 32 characters"
		if got := <-recorder.Events; got != want {
			t.Errorf("event = %q, want %q", got, want)
		}
	}
	if n := len(recorder.Events); n > 0 {
		t.Errorf("%d more events, the first: %s", n, <-recorder.Events)
	}
	if n := strings.Count(r.log(), "Registration is used without a part of it"); n != 3 {
		t.Errorf("%d warnings are logged, want 3; whole:\n%s", n, r.log())
	}
}

func field(line, name string) string {
	_, after, found := strings.Cut(line, name)
	if !found {
		return ""
	}
	return strings.Trim(strings.Fields(after)[0], `"`)
}

func TestEventIsOnTheRegistration(t *testing.T) {
	n := notice{ref: corev1.ObjectReference{Kind: "Secret", Namespace: "fleet", Name: "east"},
		silence: fleet.Silencef("PullMode", "%s", strings.Repeat("x", 2000))}
	recorder := &lastEvent{}
	(&Registry{options: Options{Recorder: recorder}}).record(n)
	if recorder.object != n.ref || len(recorder.message) != 1024 {
		t.Errorf("event on %v with %d bytes, want on %v with 1024", recorder.object, len(recorder.message), n.ref)
	}
}

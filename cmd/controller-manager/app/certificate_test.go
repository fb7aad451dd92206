// SPDX-License-Identifier: Apache-2.0

package app

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/command/commandtest"
)

// keepingHub is a hub that keeps our Secret, and lets anybody with a token read metrics.
type keepingHub struct {
	commandtest.Hub

	mu     sync.Mutex
	secret corev1.Secret
}

func (h *keepingHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var told any
	switch r.URL.Path {
	case "/api/v1/namespaces/fleetscale-system/secrets/controller-manager-self-signed":
		h.mu.Lock()
		defer h.mu.Unlock()
		if r.Method == http.MethodPut {
			h.store(r.Body)
		}
		told = h.secret
	case "/apis/authentication.k8s.io/v1/tokenreviews":
		told = authenticationv1.TokenReview{
			TypeMeta: metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "TokenReview"},
			Status:   authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{Username: "scraper"}},
		}
	case "/apis/authorization.k8s.io/v1/subjectaccessreviews":
		told = authorizationv1.SubjectAccessReview{
			TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SubjectAccessReview"},
			Status:   authorizationv1.SubjectAccessReviewStatus{Allowed: true},
		}
	default:
		h.Hub.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(told)
}

// store keeps a Secret in whatever format it comes.
func (h *keepingHub) store(from io.Reader) {
	body, err := io.ReadAll(from)
	if err != nil {
		return
	}
	sent := corev1.Secret{}
	if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, &sent); err == nil {
		sent.TypeMeta = h.secret.TypeMeta
		h.secret = sent
	}
}

// authorities are those by which scrapers verify the program: of the Secret's key that ServiceMonitors name.
func (h *keepingHub) authorities(key string) *x509.CertPool {
	h.mu.Lock()
	defer h.mu.Unlock()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(h.secret.Data[key]) {
		return nil
	}
	return pool
}

// tlsConfig is how the ServiceMonitor of the program has it verified.
type tlsConfig struct {
	ServerName string
	CA         struct{ Secret struct{ Name, Key string } }
}

func monitored(t *testing.T) tlsConfig {
	t.Helper()
	text, err := os.ReadFile("../../../deploy/components/monitoring/servicemonitors.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var monitor struct {
		Metadata struct{ Name string }
		Spec     struct {
			Endpoints []struct{ TLSConfig tlsConfig }
		}
	}
	first, _, _ := strings.Cut(string(text), "\n---\n")
	if err := yaml.Unmarshal([]byte(first), &monitor); err != nil {
		t.Fatal(err)
	}
	if monitor.Metadata.Name != "controller-manager" {
		t.Fatalf("the first ServiceMonitor is of %s", monitor.Metadata.Name)
	}
	return monitor.Spec.Endpoints[0].TLSConfig
}

// The program signs its certificate itself, and a scraper verifies it by the Secret and the name that deploy/ tells: a replica that is not
// the leader too, as there is none here.
func TestScrapersVerifyTheProgram(t *testing.T) {
	hub := &keepingHub{secret: corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{
			Name: monitored(t).CA.Secret.Name, Namespace: "fleetscale-system", ResourceVersion: "1",
		},
	}}
	port := commandtest.FreePort(t)
	commandtest.Start(t, commandtest.Build(t), "--kubeconfig="+commandtest.Serve(t, hub), "--metrics-bind-address=0.0.0.0:"+port,
		"--health-probe-bind-address=0")
	var authorities *x509.CertPool
	written := func() bool { authorities = hub.authorities(monitored(t).CA.Secret.Key); return authorities != nil }
	if err := commandtest.Await(t, written); err != nil {
		t.Fatal("no authority was written: ", err)
	}
	scrape := func(verified *tls.Config) (status int, err error) {
		client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: verified, DisableKeepAlives: true}}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://127.0.0.1:"+port+"/metrics", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer scraper")
		resp, err := client.Do(req)
		if err != nil {
			return 0, err
		}
		return resp.StatusCode, resp.Body.Close()
	}
	var status int
	var err error
	verifying := &tls.Config{RootCAs: authorities, ServerName: monitored(t).ServerName, MinVersion: tls.VersionTLS12}
	if commandtest.Await(t, func() bool { status, err = scrape(verifying); return err == nil }) != nil || status != http.StatusOK {
		t.Fatalf("scraping: status %d, error %v", status, err)
	}
	verifying.ServerName = "webhook.fleetscale-system.svc"
	if _, err = scrape(verifying); err == nil || !strings.Contains(err.Error(), "certificate is valid for "+monitored(t).ServerName) {
		t.Errorf("scraping another program there: error %v", err)
	}
}

// Where nobody verifies it, there is no certificate, and nothing is written.
func TestMetricsWithoutACertificate(t *testing.T) {
	for name, args := range map[string][]string{
		"plain HTTP on loopback": {"--metrics-bind-address=127.0.0.1:8443"},
		"no metrics":             {"--metrics-bind-address=0"},
		"who observes":           {"--observe"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := metricsCertificate(nil, commandtest.Parsed(t, NewOptions(), args...), nil)
			if err != nil || c.Get != nil || c.Ready() != nil || c.Run(t.Context()) != nil {
				t.Errorf("certificate %+v, error %v", c, err)
			}
		})
	}
}

func TestFilesThatAreNotThere(t *testing.T) {
	o := commandtest.Parsed(t, NewOptions(), "--metrics-tls-cert-file=none", "--metrics-tls-private-key-file=none")
	_, err := metricsCertificate(nil, o, nil)
	const want = "reading --metrics-tls-cert-file and --metrics-tls-private-key-file: open none: no such file or directory"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
	"github.com/fleetscale/fleetscale/test/sim"
)

// Webhook is a server of admission, in a process of its own, which the hub asks.
type Webhook struct {
	URL string
	PID measure.Process

	process   *lab.Process
	service   string // that the hub reaches it by
	authority []byte // of its certificate
}

// Webhook starts the webhook of this checkout, with its default options, and has
// the hub ask it as deploy/ says: about all namespaces but kube-system and its
// own. The hub does so a moment later; see RemoveWebhook. The kinds are made if they are not
// there, and stay.
func (s *Stage) Webhook(ctx context.Context, log io.Writer) (*Webhook, error) {
	program, err := fixture.Build(ctx, "webhook", s.Dir(), log)
	if err != nil {
		return nil, err
	}
	if err := s.InstallKinds(ctx, s.Hub()); err != nil {
		return nil, err
	}
	const unknown = 443 // the account comes first, and the port later
	if err := s.InstallWebhook(ctx, s.Hub(), unknown); err != nil {
		return nil, err
	}
	w, prepared, err := s.NewWebhook(ctx, s.Hub(), program, s.unique("webhook"))
	if err != nil {
		return nil, err
	}
	if err := s.InstallWebhook(ctx, s.Hub(), w.Port); err != nil {
		return nil, err
	}
	if w.Process, err = s.Run(ctx, prepared); err != nil {
		return nil, err
	}
	started, err := webhookOf(w.Process, w.Port, fixture.WebhookService)
	if err == nil {
		started.authority, err = s.awaitAuthority(ctx)
	}
	return started, err
}

func webhookOf(p *lab.Process, port int, service string) (*Webhook, error) {
	_, pid, err := p.State()
	return &Webhook{URL: fmt.Sprintf("https://127.0.0.1:%d", port), PID: measure.Process(pid), process: p, service: service}, err
}

// configuration is the name of both that deploy/ makes.
const configuration = "fleetscale"

// awaitAuthority returns what the webhook has told the hub of its certificate.
func (s *Stage) awaitAuthority(ctx context.Context) (authority []byte, err error) {
	return authority, fixture.Await(ctx, time.Minute, func(ctx context.Context) error {
		found, err := s.hub.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, configuration, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if authority = found.Webhooks[0].ClientConfig.CABundle; len(authority) == 0 {
			return errors.New("the webhook has not written its authority")
		}
		return nil
	})
}

// RemoveWebhook has the hub ask nobody, and ends the process.
func (s *Stage) RemoveWebhook(ctx context.Context, w *Webhook) error {
	name := configuration
	if w.service != fixture.WebhookService {
		name = w.service
	}
	return errors.Join(
		there(s.hub.AdmissionregistrationV1().MutatingWebhookConfigurations().Delete(ctx, name, metav1.DeleteOptions{})),
		there(s.hub.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(ctx, name, metav1.DeleteOptions{})),
		there(s.hub.CoreV1().Services(fixture.SystemNamespace).Delete(ctx, w.service, metav1.DeleteOptions{})),
		w.process.Stop(),
	)
}

// there is the error of a deletion, of what was there.
func there(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Client asks it as the hub does: over HTTP/1.1, on connections that are kept.
func (w *Webhook) Client(connections int) http.RoundTripper {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.authority)
	return &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots, ServerName: serverName(w.service)},
		MaxIdleConnsPerHost: connections,
	}
}

func serverName(service string) string { return service + "." + fixture.SystemNamespace + ".svc" }

// WebhookFor starts the webhook for a simulated hub, with its default options. The hub does not ask it: who does is its Client. The
// Program has its metrics.
func (s *Stage) WebhookFor(ctx context.Context, hub *sim.Member, log io.Writer) (*Webhook, *Program, error) {
	program, err := fixture.Build(ctx, "webhook", s.Dir(), log)
	if err != nil {
		return nil, nil, err
	}
	authority, serving, err := s.serving(hub, fixture.WebhookService)
	if err != nil {
		return nil, nil, err
	}
	w := &Webhook{service: fixture.WebhookService, authority: authority}
	p, err := s.start(ctx, hub, starting{
		name: "webhook", folder: "webhook", path: program, ready: "/metrics",
		args: func(kubeconfig string, ports []int) []string {
			w.URL = fmt.Sprintf("https://127.0.0.1:%d", ports[1])
			return append([]string{
				"--kubeconfig=" + kubeconfig, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[1]),
				"--health-probe-bind-address=0", fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", ports[0]),
			}, serving...)
		},
	})
	if err != nil {
		return nil, nil, err
	}
	w.PID, w.process = p.PID, p.process
	return w, p, nil
}

// serving writes a certificate for a Service of a simulated hub, which is its own authority, and returns the flags that name it.
func (s *Stage) serving(hub *sim.Member, service string) (authority []byte, flags []string, err error) {
	authority, key, err := cert.GenerateSelfSignedCertKey(serverName(service), nil, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("signing the certificate of %s: %w", service, err)
	}
	dir := filepath.Join(s.Dir(), "clusters", hub.Name()+"-"+service)
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(certFile, authority, 0o600), os.WriteFile(keyFile, key, 0o600)); err != nil {
		return nil, nil, fmt.Errorf("writing the certificate of %s: %w", service, err)
	}
	return authority, []string{"--tls-cert-file=" + certFile, "--tls-private-key-file=" + keyFile}, nil
}

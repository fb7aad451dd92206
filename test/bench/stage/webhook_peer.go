// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// WebhookPeer starts this very program as another webhook, and has the hub ask
// it about one namespace just as it asks ours about others: by a Service, for
// the same writes, under the same conditions. Ours must be there. The program's arguments
// are the given one, the port, and the files of a certificate and of its key.
func (s *Stage) WebhookPeer(ctx context.Context, argument, namespace string) (*Webhook, error) {
	name := s.unique("webhook-peer")
	pair, err := s.Hub().ServingCertificate(serverName(name), "127.0.0.1")
	if err != nil {
		return nil, err
	}
	certificate, key, err := pair.Write(filepath.Join(s.Dir(), "clusters", name), "serving")
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	ports, err := s.FreePorts(1)
	if err != nil {
		return nil, err
	}
	process, err := s.Run(ctx, lab.Program{
		Name: name, Path: program, Args: []string{argument, strconv.Itoa(ports[0]), certificate, key},
		Ready: lab.HTTPReady(fmt.Sprintf("https://127.0.0.1:%d/", ports[0])),
	})
	if err != nil {
		return nil, err
	}
	w, err := webhookOf(process, ports[0], name)
	if err != nil {
		return nil, err
	}
	if w.authority, err = s.Hub().CA(); err != nil {
		return nil, err
	}
	if err := s.askPeer(ctx, w, namespace, int32(ports[0])); err != nil {
		return nil, errors.Join(err, s.RemoveWebhook(ctx, w))
	}
	return w, nil
}

// askPeer makes its Service, and copies of the configurations of ours.
func (s *Stage) askPeer(ctx context.Context, w *Webhook, namespace string, port int32) error {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: w.service, Namespace: fixture.SystemNamespace},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}
	if _, err := s.hub.CoreV1().Services(service.Namespace).Create(ctx, service, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("making a Service for another webhook: %w", err)
	}
	mutating, validating := s.hub.AdmissionregistrationV1().MutatingWebhookConfigurations(),
		s.hub.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	m, err := mutating.Get(ctx, configuration, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading for what the hub asks: %w", err)
	}
	v, err := validating.Get(ctx, configuration, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading for what the hub asks: %w", err)
	}
	p := peer{w, namespace, port}
	m.ObjectMeta, v.ObjectMeta = metav1.ObjectMeta{Name: w.service}, metav1.ObjectMeta{Name: w.service}
	for i := range m.Webhooks {
		p.claim(&m.Webhooks[i].ClientConfig, &m.Webhooks[i].NamespaceSelector)
	}
	for i := range v.Webhooks {
		p.claim(&v.Webhooks[i].ClientConfig, &v.Webhooks[i].NamespaceSelector)
	}
	if _, err := mutating.Create(ctx, m, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("having the hub ask another webhook: %w", err)
	}
	if _, err := validating.Create(ctx, v, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("having the hub ask another webhook: %w", err)
	}
	return nil
}

// peer is who is asked instead, and about what.
type peer struct {
	*Webhook

	namespace string
	port      int32
}

func (p peer) claim(client *admissionregistrationv1.WebhookClientConfig, about **metav1.LabelSelector) {
	client.CABundle, client.Service.Name, client.Service.Port = p.authority, p.service, &p.port
	*about = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: p.namespace}}
}

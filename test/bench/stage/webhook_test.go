// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// A peer is asked as ours is, but for whom and about which namespace.
func TestPeersOfTheWebhookAreAskedAsOurs(t *testing.T) {
	client := func(path string) admissionregistrationv1.WebhookClientConfig {
		port := int32(443)
		return admissionregistrationv1.WebhookClientConfig{
			CABundle: []byte("ours"),
			Service: &admissionregistrationv1.ServiceReference{Namespace: fixture.SystemNamespace, Name: fixture.WebhookService, Path: &path,
				Port: &port},
		}
	}
	others := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: corev1.LabelMetadataName,
		Operator: metav1.LabelSelectorOpNotIn, Values: []string{"x"}}}}
	conditions := []admissionregistrationv1.MatchCondition{{Name: "spec-changed", Expression: "true"}}
	meta := metav1.ObjectMeta{Name: configuration, ResourceVersion: "7", Labels: map[string]string{"a": "b"}}
	s := &Stage{hub: fake.NewClientset(
		&admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []admissionregistrationv1.MutatingWebhook{
			{Name: "a", ClientConfig: client("/mutate-a"), NamespaceSelector: others, MatchConditions: conditions},
			{Name: "b", ClientConfig: client("/mutate-b"), NamespaceSelector: others, MatchConditions: conditions},
		}},
		&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []admissionregistrationv1.ValidatingWebhook{
			{Name: "a", ClientConfig: client("/validate-a"), NamespaceSelector: others, MatchConditions: conditions},
		}},
	)}
	if err := s.askPeer(t.Context(), &Webhook{service: "peer", authority: []byte("its")}, "kube-system", 8443); err != nil {
		t.Fatal(err)
	}
	service, err := s.hub.CoreV1().Services(fixture.SystemNamespace).Get(t.Context(), "peer", metav1.GetOptions{})
	if err != nil || service.Spec.ExternalName != "localhost" {
		t.Errorf("its Service: %+v, %v", service, err)
	}
	m, err := s.hub.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), "peer", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.hub.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), "peer", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	about := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "kube-system"}}
	for path, got := range map[string]struct {
		client     admissionregistrationv1.WebhookClientConfig
		about      *metav1.LabelSelector
		conditions []admissionregistrationv1.MatchCondition
	}{
		"/mutate-a":   {m.Webhooks[0].ClientConfig, m.Webhooks[0].NamespaceSelector, m.Webhooks[0].MatchConditions},
		"/mutate-b":   {m.Webhooks[1].ClientConfig, m.Webhooks[1].NamespaceSelector, m.Webhooks[1].MatchConditions},
		"/validate-a": {v.Webhooks[0].ClientConfig, v.Webhooks[0].NamespaceSelector, v.Webhooks[0].MatchConditions},
	} {
		want, port := client(path), int32(8443)
		want.CABundle, want.Service.Name, want.Service.Port = []byte("its"), "peer", &port
		fleettest.Same(t, path+": whom", want, got.client)
		if diff := cmp.Diff(about, got.about) + cmp.Diff(conditions, got.conditions); diff != "" {
			t.Errorf("%s: about what (-want +got):\n%s", path, diff)
		}
	}
	kept, err := s.hub.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), configuration, metav1.GetOptions{})
	if err != nil || kept.Webhooks[0].ClientConfig.Service.Name != fixture.WebhookService {
		t.Errorf("ours is asked otherwise now: %+v, %v", kept, err)
	}
}

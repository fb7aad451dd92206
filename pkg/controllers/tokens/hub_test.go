// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// What is written names the version that it is for, and one key.
func TestSecretIsWrittenAsItWasRead(t *testing.T) {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "east", UID: "u", ResourceVersion: "7"},
		Data:       map[string][]byte{"kubeconfig": []byte("old"), "other": []byte("o")},
	}
	client := fake.NewClientset(secret)
	h := HubClient{Secrets: client, Timeout: time.Second}
	if err := h.Put(t.Context(), secret, "kubeconfig", []byte("new")); err != nil {
		t.Fatal(err)
	}
	actions := client.Actions()
	patch, ok := actions[len(actions)-1].(clienttesting.PatchAction)
	if !ok {
		t.Fatalf("it was not patched: %v", actions)
	}
	const want = `{"data":{"kubeconfig":"bmV3"},"metadata":{"resourceVersion":"7","uid":"u"}}`
	fleettest.Same(t, "the patch", want, string(patch.GetPatch()))
	if gone, err := h.Get(t.Context(), here, "west"); gone != nil || err != nil {
		t.Errorf("of no Secret Get returns %v, %v", gone, err)
	}
}

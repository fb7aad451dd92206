// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"testing"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// With a certificate of files nothing of ours writes into the webhook
// configurations. New files are served without a restart, and nobody is refused
// if both authorities are known before.
func TestCertificateOfFiles(t *testing.T) {
	e, dir := hub(t), t.TempDir()
	e.install(t)
	authority, err := e.Hub().CA()
	if err != nil {
		t.Fatal(err)
	}
	e.trust(t, authority)
	certFile, keyFile := e.writePair(t, dir)
	replicas := e.replicas(t, 1, "--tls-cert-file="+certFile, "--tls-private-key-file="+keyFile)
	e.awaitAnswers(t)

	hub, people := e.trusting(t), e.begin(t, 4)
	first := hub.served(t, replicas)[0]
	e.writePair(t, dir)
	await(t, func(context.Context) error {
		if hub.served(t, replicas)[0].Equal(first) {
			return errors.New("the certificate is the same")
		}
		return nil
	})
	people.judge(t)

	bundles, err := hub.bundles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, bundle := range bundles {
		if string(bundle) != string(authority) {
			t.Errorf("webhook %d trusts another authority", i)
		}
	}
	secret := e.kubectl(t, "-n", fixture.SystemNamespace, "get", "secret", fixture.WebhookSecret, "-o", "jsonpath={.data}")
	if secret.Stdout != "" {
		t.Errorf("the Secret has %s", secret.Stdout)
	}
}

// writePair issues a certificate of the hub's authority into two files.
func (e *env) writePair(t *testing.T, dir string) (certFile, keyFile string) {
	t.Helper()
	pair, err := e.Hub().ServingCertificate(fixture.WebhookService + "." + fixture.SystemNamespace + ".svc")
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile, err = pair.Write(dir, "tls")
	if err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile
}

// trust has an administrator write the authority.
func (e *env) trust(t *testing.T, authority []byte) {
	t.Helper()
	patch := "["
	for i := range 3 {
		patch += fmt.Sprintf(`{"op":"add","path":"/webhooks/%d/clientConfig/caBundle","value":%q},`, i,
			base64.StdEncoding.EncodeToString(authority))
	}
	patch = patch[:len(patch)-1] + "]"
	for _, kind := range []string{"mutatingwebhookconfiguration", "validatingwebhookconfiguration"} {
		e.kubectl(t, "patch", kind, "fleetscale", "--type=json", "-p", patch)
	}
}

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"encoding/base64"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/controllers/tokens"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// A registration gets a certificate authority that did not sign the member's
// certificate, and then the right one.
func TestWrongCertificateAuthority(t *testing.T) {
	e := whole(t)
	member, right := e.registration(t, "member2", 24*time.Hour)
	theirs, err := member.CA()
	if err != nil {
		t.Fatal(err)
	}
	others, err := e.Members()[0].CA()
	if err != nil {
		t.Fatal(err)
	}
	wrong := bytes.ReplaceAll(right, encoded(theirs), encoded(others))
	if bytes.Equal(wrong, right) {
		t.Fatal("the kubeconfig does not hold the certificate authority where this test expects it")
	}
	e.register(t, "member2", wrong)
	e.sees(t, "the member is not trusted", allPath, lacks("member2", "CertificateInvalid"))
	e.register(t, "member2", right)
	e.recovers(t)
}

func encoded(data []byte) []byte {
	return []byte(base64.StdEncoding.EncodeToString(data))
}

// A token expires while the member is in use, and is then replaced.
func TestExpiredTokenThenRotated(t *testing.T) {
	t.Parallel()
	e := whole(t)
	secret := []string{"-n", fixture.RegistrationNamespace, "annotate", "--overwrite", "secret", "member3"}
	e.kubectl(t, append(secret, tokens.RenewAnnotation+"=false")...) // by whom it is rotated is the matter here
	t.Cleanup(func() { _, _ = e.Ask(afterwards(t), append(secret, tokens.RenewAnnotation+"-")...) })
	_, short := e.registration(t, "member3", 15*time.Second)
	e.register(t, "member3", short)
	if err := isWhole(e.query(t, shopPath)); err != nil {
		t.Errorf("what is known of the member went with its former token: %v", err)
	}
	e.sees(t, "the token has expired", allPath, lacks("member3", "Forbidden"))
	_, long := e.registration(t, "member3", 24*time.Hour)
	e.register(t, "member3", long)
	e.recovers(t)
}

// cluster returns the one of that name.
func (e *env) cluster(t *testing.T, name string) *lab.Cluster {
	t.Helper()
	c, err := e.Cluster(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// registration returns a member, and what its registration may hold.
func (e *env) registration(t *testing.T, name string, ttl time.Duration) (*lab.Cluster, []byte) {
	t.Helper()
	member := e.cluster(t, name)
	kubeconfig, err := fixture.MemberKubeconfig(t.Context(), member, ttl)
	if err != nil {
		t.Fatal(err)
	}
	return member, kubeconfig
}

func (e *env) register(t *testing.T, name string, kubeconfig []byte) {
	t.Helper()
	if err := e.Register(t.Context(), name, kubeconfig); err != nil {
		t.Fatal(err)
	}
}

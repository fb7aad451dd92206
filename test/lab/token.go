// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gopkg.in/go-jose/go-jose.v2"
	"gopkg.in/go-jose/go-jose.v2/jwt"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/test/lab/internal/pki"
)

const serviceAccountIssuer = "https://kubernetes.default.svc"

// serviceAccountClaims is what makes a token one of a service account.
type serviceAccountClaims struct {
	Kubernetes struct {
		Namespace      string    `json:"namespace"`
		ServiceAccount objectRef `json:"serviceaccount"`
	} `json:"kubernetes.io"`
}

type objectRef struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

// leeway is how long API servers accept a token after its time.
const leeway = time.Minute

// ServiceAccountToken returns a token of an existing service account that the
// API server accepts for ttl, and for ten seconds more if it was just used. It
// is signed here and not asked of the API server, which grants no less than ten
// minutes: a test of expiry cannot wait for that.
func (c *Cluster) ServiceAccountToken(ctx context.Context, namespace, name string, ttl time.Duration) (string, error) {
	return c.AgedToken(ctx, namespace, name, ttl, leeway)
}

// AccountKubeconfig is TokenKubeconfig of a ServiceAccountToken.
func (c *Cluster) AccountKubeconfig(ctx context.Context, namespace, name string, ttl time.Duration) ([]byte, error) {
	token, err := c.ServiceAccountToken(ctx, namespace, name, ttl)
	if err != nil {
		return nil, err
	}
	return c.TokenKubeconfig(token)
}

// AgedToken returns a token of an existing service account that says that it was issued some time ago, with a life that
// began then. A test of what happens late in a token's life cannot wait for that either.
func (c *Cluster) AgedToken(ctx context.Context, namespace, name string, life, age time.Duration) (string, error) {
	client, err := c.Client()
	if err != nil {
		return "", err
	}
	account, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("reading service account %s/%s in %s: %w", namespace, name, c.Name, err)
	}
	return c.signToken(namespace, objectRef{Name: name, UID: account.UID}, time.Now().Add(-age), life)
}

func (c *Cluster) signToken(namespace string, account objectRef, begin time.Time, life time.Duration) (string, error) {
	data, err := os.ReadFile(filepath.Join(c.pkiDir(), serviceAccountKeyName))
	if err != nil {
		return "", fmt.Errorf("reading the key of service accounts in %s: %w", c.Name, err)
	}
	key, err := pki.ParseKey(data)
	if err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	claims := jwt.Claims{
		Issuer:    serviceAccountIssuer,
		Audience:  jwt.Audience{serviceAccountIssuer},
		Subject:   "system:serviceaccount:" + namespace + ":" + account.Name,
		IssuedAt:  jwt.NewNumericDate(begin),
		NotBefore: jwt.NewNumericDate(begin),
		Expiry:    jwt.NewNumericDate(begin.Add(life)),
	}
	var private serviceAccountClaims
	private.Kubernetes.Namespace = namespace
	private.Kubernetes.ServiceAccount = account
	return jwt.Signed(signer).Claims(claims).Claims(private).CompactSerialize()
}

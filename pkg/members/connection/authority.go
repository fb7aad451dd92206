// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
)

// authority is who has verified a server.
type authority struct {
	root *x509.Certificate
	// hash is of its public key; empty if that says nothing of which server it is.
	hash string
}

// Authority is a hash of the public key of the certificate authority that the registration gives and that verified the server when it
// last answered [Connection.Get]. It is empty where that does not say which cluster answers: see
// [registration.Endpoint.NamesAuthority]; and authorities that the system trusts vouch for everybody.
func (c *Connection) Authority() string {
	if a := c.authority.Load(); a != nil {
		return a.hash
	}
	return ""
}

// noteAuthority notes who verified the server.
func (c *Connection) noteAuthority(state *tls.ConnectionState) {
	if !c.namesAuthority || state == nil {
		return
	}
	root := rootOf(state.VerifiedChains)
	if before := c.authority.Load(); root == nil || before != nil && before.root.Equal(root) {
		return
	}
	c.authority.Store(authorityOf(root))
}

// rootOf is the same of all chains, in whatever order they come.
func rootOf(chains [][]*x509.Certificate) (root *x509.Certificate) {
	for _, chain := range chains {
		if last := chain[len(chain)-1]; root == nil || bytes.Compare(last.Raw, root.Raw) < 0 {
			root = last
		}
	}
	return root
}

func authorityOf(root *x509.Certificate) *authority {
	if _, err := root.Verify(x509.VerifyOptions{KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err == nil {
		return &authority{root: root} // the system trusts it
	}
	sum := sha256.Sum256(root.RawSubjectPublicKeyInfo)
	return &authority{root, base64.RawURLEncoding.EncodeToString(sum[:])}
}

// SPDX-License-Identifier: Apache-2.0

package app

import (
	"crypto/x509"
	"testing"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// authorities is what is known of the clients' certificate authorities.
type authorities string

func (authorities) Name() string                              { return "test" }
func (authorities) AddListener(dynamiccertificates.Listener)  {}
func (a authorities) CurrentCABundleContent() []byte          { return []byte(a) }
func (authorities) VerifyOptions() (x509.VerifyOptions, bool) { return x509.VerifyOptions{}, false }

func TestNotReadyBeforeClientsCanBeKnown(t *testing.T) {
	tests := map[string]struct {
		clientCA  dynamiccertificates.CAContentProvider
		wantReady bool
	}{
		"the hub has not said yet":              {authorities(""), false},
		"the hub has said":                      {authorities("PEM"), true},
		"clients bear no certificates (a flag)": {nil, true},
	}
	for name, tc := range tests {
		if err := authoritiesKnown(tc.clientCA); (err == nil) != tc.wantReady {
			t.Errorf("%s: %v, want ready = %v", name, err, tc.wantReady)
		}
	}
}

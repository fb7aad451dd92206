// SPDX-License-Identifier: Apache-2.0

package app

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/rest"
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

func TestMetricsServerConfig(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	dir := t.TempDir()
	caFile, noCAFile := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "key.pem")
	for file, data := range map[string][]byte{caFile: ca, noCAFile: []byte("no certificate")} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tokenFile := filepath.Join(dir, "token")
	if err := os.WriteFile(tokenFile, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	const url = "https://metrics-server.kube-system.svc"
	tests := map[string]struct {
		options HubOptions
		want    rest.Config
		fault   string
	}{
		"verified by a file": {
			options: HubOptions{MetricsServer: url, MetricsServerCAFile: caFile, MetricsServerTokenFile: tokenFile},
			want:    rest.Config{Host: url, BearerTokenFile: tokenFile, TLSClientConfig: rest.TLSClientConfig{CAData: ca}},
		},
		"verified by the system's authorities": {
			options: HubOptions{MetricsServer: url, MetricsServerTokenFile: tokenFile},
			want:    rest.Config{Host: url, BearerTokenFile: tokenFile},
		},
		"no file": {
			options: HubOptions{MetricsServer: url, MetricsServerCAFile: "/no/file", MetricsServerTokenFile: tokenFile},
			fault:   "--hub-metrics-server-ca-file: open /no/file: no such file or directory",
		},
		"no token": {
			options: HubOptions{MetricsServer: url, MetricsServerCAFile: caFile, MetricsServerTokenFile: "/no/file"},
			fault:   "--hub-metrics-server-token-file: stat /no/file: no such file or directory",
		},
		"no certificate": {
			options: HubOptions{MetricsServer: url, MetricsServerCAFile: noCAFile, MetricsServerTokenFile: tokenFile},
			fault:   "--hub-metrics-server-ca-file: the certificate authority holds no PEM certificate",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tc.options.metricsServerConfig()
			if err != nil || tc.fault != "" {
				if err == nil || err.Error() != tc.fault {
					t.Fatalf("error = %v, want %q", err, tc.fault)
				}
				return
			}
			if !reflect.DeepEqual(tc.want, *got) { // which shows no credentials when it is printed
				t.Errorf("config = %v, want %v; or their credentials differ", got, tc.want)
			}
		})
	}
}

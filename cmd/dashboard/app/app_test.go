// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fleetscale/fleetscale/pkg/command/commandtest"
)

func TestHelpShowsTheFlagsThatAreTaken(t *testing.T) {
	commandtest.HelpShowsFlags(t, func() *cobra.Command { return NewCommand(t.Context()) })
}

// Every flag that the manifests pass is one of ours, with a value that it takes.
func TestManifestsPassFlagsThatExist(t *testing.T) {
	commandtest.ManifestFlags(t, func() *cobra.Command { return NewCommand(t.Context()) }, commandtest.None, "../../../deploy/base/dashboard")
}

func TestValidateNamesTheFlag(t *testing.T) {
	enough := func() *Options {
		o := NewOptions()
		o.Kubeconfig, o.CertFile, o.KeyFile = "hub", "tls.crt", "tls.key"
		return o
	}
	const noCertificate = "--tls-cert-file and --tls-private-key-file: set both: readers send tokens, and must know to whom"
	commandtest.Refusals(t, enough, map[string]struct {
		Args []string
		Want string
	}{
		"no hub": {[]string{"--kubeconfig="},
			"--kubeconfig: must name a file with the address of the hub and the authority of its certificate"},
		"no certificate":         {[]string{"--tls-cert-file="}, noCertificate},
		"no key":                 {[]string{"--tls-private-key-file="}, noCertificate},
		"no port":                {[]string{"--secure-port=0"}, "--secure-port: must be from 1 to 65535, got 0"},
		"no port of TCP":         {[]string{"--secure-port=65536"}, "--secure-port: must be from 1 to 65535, got 65536"},
		"an address with a name": {[]string{"--bind-address=localhost"}, `--bind-address: must be an IP address, got "localhost"`},
		"room for nobody":        {[]string{"--max-pages=0"}, "--max-pages: must be above 0, got 0"},
	})
}

// files are a certificate, its key, and a kubeconfig of a hub that refuses everybody.
func files(t *testing.T) (o *Options) {
	t.Helper()
	hub := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(hub.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"] = &clientcmdapi.Cluster{
		Server: hub.URL, CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hub.Certificate().Raw}),
	}
	config.Contexts["hub"] = &clientcmdapi.Context{Cluster: "hub"}
	config.CurrentContext = "hub"
	o = NewOptions()
	folder := t.TempDir()
	o.Kubeconfig, o.CertFile, o.KeyFile = filepath.Join(folder, "hub"), filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	certificate, key, err := cert.GenerateSelfSignedCertKey("localhost", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := clientcmd.WriteToFile(*config, o.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string][]byte{o.CertFile: certificate, o.KeyFile: key} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// It serves over TLS, tells kubelets that it lives, lets nobody in without a token, and ends without an error when it is told to.
func TestRun(t *testing.T) {
	o := files(t)
	port := commandtest.FreePort(t)
	o.BindAddress = "127.0.0.1"
	commandtest.Parsed(t, o, "--secure-port="+port)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, o) }()
	commandtest.Get(t, "https://127.0.0.1:"+port+"/readyz", "ok")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	for _, tc := range []struct {
		path, token string
		want        int
	}{{"/healthz", "", http.StatusOK}, {"/", "", http.StatusUnauthorized}, {"/stream", "a-token", http.StatusUnauthorized},
		{"/metrics", "", http.StatusUnauthorized}} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://127.0.0.1:"+port+tc.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tc.token != "" {
			r.Header.Set("Authorization", "Bearer "+tc.token)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != tc.want {
			t.Errorf("%s: %d, want %d: %s", tc.path, answer.StatusCode, tc.want, body)
		}
	}
	end()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	if got := logged(t, func() { log.Log.Info("the certificate has changed") }); !strings.Contains(got, "the certificate has changed") {
		t.Errorf("of what a library logs there is %q", got)
	}
}

// logged is what is logged by something.
func logged(t *testing.T, by func()) string {
	t.Helper()
	defer klog.CaptureState().Restore()
	var text bytes.Buffer
	klog.LogToStderr(false)
	klog.SetOutput(&text)
	by()
	klog.Flush()
	return text.String()
}

func TestWhatCannotBeServed(t *testing.T) {
	plain := files(t)
	config, err := clientcmd.LoadFromFile(plain.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.Clusters["hub"].CertificateAuthorityData, config.Clusters["hub"].InsecureSkipTLSVerify = nil, true
	if err := clientcmd.WriteToFile(*config, plain.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	keyless := files(t)
	keyless.KeyFile = "/none"
	for want, o := range map[string]*Options{
		"--kubeconfig: the hub must be reached by https, and its certificate verified: tokens of readers are sent there": plain,
		"reading --tls-cert-file and --tls-private-key-file: open /none: no such file or directory":                      keyless,
	} {
		if err := run(t.Context(), o); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

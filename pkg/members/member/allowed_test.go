// SPDX-License-Identifier: Apache-2.0

package member

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

func TestAllowedInsecurity(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t,
		registrationtest.OnCluster(func(c *clientcmdapi.Cluster) { c.InsecureSkipTLSVerify = true }))))
	r := start(t, hub, func(o *Options) { o.Registrations.Policy.AllowInsecure = true })
	r.becomes("east=Ready")
	r.asks("east", "1")
}

func TestAllowedFiles(t *testing.T) {
	t.Parallel()
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	file := filepath.Join(t.TempDir(), "token")
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t,
		registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) { u.Token, u.TokenFile = "", file }))))
	r := start(t, hub, func(o *Options) { o.Registrations.Policy.AllowFiles = true })
	r.becomes("east=InvalidKubeconfig")
	want := "preparing credentials: open " + file + ": no such file or directory"
	if got := r.member("east").State().Message; !strings.Contains(got, file) {
		t.Errorf("message = %q, want something like %q", got, want)
	}
	if err := os.WriteFile(file, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.becomes("east=Ready")
}

// TestAllowedCommand runs a credential plugin that first hangs.
func TestAllowedCommand(t *testing.T) {
	t.Parallel()
	hub, east, west := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	dir := t.TempDir()
	plugin, released := filepath.Join(dir, "plugin"), filepath.Join(dir, "released")
	script := `#!/bin/sh
while [ ! -e ` + released + ` ]; do sleep 0.02; done
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"s3cret"}}'
`
	if err := os.WriteFile(plugin, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	release := func() {
		if err := os.WriteFile(released, nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(release)
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t, registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) {
		*u = clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
			Command: plugin, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.IfAvailableExecInteractiveMode,
		}}
	}))))
	hub.Put(t, west.secret(t, "west"))
	r := start(t, hub, func(o *Options) {
		o.Connections.Timeout = time.Second
		o.Registrations.Policy.AllowedExecCommands = []string{plugin}
	})
	r.becomes("east=Timeout west=Ready")
	started := time.Now()
	if _, err := ask(t.Context(), r.member("east")); err == nil || time.Since(started) > 10*time.Second {
		t.Errorf("asking it: %v after %v, want a time-out", err, time.Since(started))
	}
	release()
	r.becomes("east=Ready west=Ready")
	r.asks("east", "1")
}

// connectProxy tunnels, if it is asked with the right password and header.
func connectProxy(t *testing.T) *httptest.Server {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		want := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:pw"))
		if req.Method != http.MethodConnect || req.Header.Get("Proxy-Authorization") != want {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		up, err := net.Dial("tcp", req.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		down, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(down, "HTTP/1.1 200 %s\r\n\r\n", req.Header.Get("X-Tenant"))
		go func() { _, _ = io.Copy(up, down); up.Close() }()
		go func() { _, _ = io.Copy(down, up); down.Close() }()
	}))
	t.Cleanup(proxy.Close)
	return proxy
}

func TestProxy(t *testing.T) {
	t.Parallel()
	hub, east, west := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	proxy := strings.Replace(connectProxy(t).URL, "http://", "http://me:pw@", 1)
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t, registrationtest.OnCluster(func(c *clientcmdapi.Cluster) { c.ProxyURL = proxy }))))
	hub.Karmada = true
	hub.Put(t, west.karmadaSecret("west"))
	hub.Put(t, karmadaObject(west, "west", func(spec map[string]any) {
		spec["proxyURL"] = connectProxy(t).URL
		spec["proxyHeader"] = map[string]any{"proxy-authorization": "Basic bWU6cHc="}
	}))
	r := start(t, hub)
	r.becomes("east=Ready west=Ready")
	r.asks("east", "1")
	r.asks("west", "2")
}

// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

func TestIsLocal(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": true, "127.255.255.254": true, "::1": true, "::ffff:127.0.0.1": true,
		"169.254.169.254": true, "169.254.0.1": true, "fe80::1": true, "febf::1": true, "fe80::1%eth0": true, "::ffff:169.254.169.254": true,
		"0.0.0.0": true, "::": true, "::ffff:0.0.0.0": true,
		"10.0.0.1": false, "192.168.1.1": false, "169.253.255.255": false, "169.255.0.0": false, "128.0.0.1": false, "126.255.255.255": false,
		"fec0::1": false, "fd00::1": false, "::2": false, "2001:db8::1": false, "::ffff:10.0.0.1": false,
	} {
		if got := isLocal(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s is local: %v, want %v", text, got, want)
		}
	}
}

// listener counts who connects.
func listener(t *testing.T) (port string, connected *atomic.Int64) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	connected = &atomic.Int64{}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			connected.Add(1)
			_ = conn.Close()
		}
	}()
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port, connected
}

func TestLocalAddressesAreNotDialled(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "") // or members are reached by it
	port, connected := listener(t)
	plain := func(host string) registration.Endpoint {
		return registration.Endpoint{Config: &rest.Config{Host: "https://" + host + ":" + port, BearerToken: "s3cret"}}
	}
	proxied := func(scheme string) registration.Endpoint {
		return registration.Endpoint{
			Config:      &rest.Config{Host: "https://203.0.113.1:6443", BearerToken: "s3cret"},
			Proxy:       &url.URL{Scheme: scheme, Host: "127.0.0.1:" + port},
			ProxyHeader: map[string][]string{"Metadata": {"true"}},
		}
	}
	plugin := plain("127.0.0.1")
	plugin.Config.ExecProvider = &clientcmdapi.ExecConfig{APIVersion: "client.authentication.k8s.io/v1", Command: "echo",
		Args:            []string{`{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"s3cret"}}`},
		InteractiveMode: clientcmdapi.NeverExecInteractiveMode}
	for name, endpoint := range map[string]registration.Endpoint{
		"an address": plain("127.0.0.1"), "another one": plain("127.1.2.3"), "a name": plain("localhost"), "mapped": plain("[::ffff:127.0.0.1]"),
		"unspecified": plain("0.0.0.0"), "a proxy": proxied("http"), "a proxy by TLS": proxied("https"), "a SOCKS proxy": proxied("socks5"),
		"with a credential plugin": plugin,
	} {
		t.Run(name, func(t *testing.T) {
			c, err := NewPeer("east", Options{}.WithDefaults(), nil, func(fleet.Reason) {}, nil).Connect(endpoint)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = c.Get(t.Context(), "/")
			silence, _ := fleet.Classify(err)
			if silence == nil || silence.Reason != ReasonAddressNotAllowed || !strings.Contains(silence.Detail, "--allow-local-members") {
				t.Errorf("error %v, want %s and the flag", err, ReasonAddressNotAllowed)
			}
		})
	}
	if n := connected.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestLocalAddressesMayBeAllowed(t *testing.T) {
	_, c := dial(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }), Options{})
	if _, code, err := c.Get(t.Context(), "/"); code != http.StatusOK || err != nil {
		t.Errorf("%d, %v, want an answer", code, err)
	}
}

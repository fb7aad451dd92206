// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// greet has a client and a server meet, and exchange a word each way; the errors are what each of them says.
func greet(client, server *tls.Config) (ofClient, ofServer error) {
	a, b := net.Pipe()
	_, _ = a.SetDeadline(time.Now().Add(time.Minute)), b.SetDeadline(time.Now().Add(time.Minute))
	done := make(chan error, 1)
	go func() {
		conn := tls.Server(b, server)
		err := conn.Handshake()
		if err == nil {
			_, err = conn.Write([]byte("."))
		}
		_ = b.Close()
		done <- err
	}()
	conn := tls.Client(a, client)
	_, ofClient = conn.Read(make([]byte, 1))
	_ = a.Close()
	return ofClient, <-done
}

func mutual(t *testing.T, hub *fakeHub) *Keeper {
	t.Helper()
	k := replica(t, hub, freely)
	k.options.Mutual, k.options.Targets = true, nil
	return k
}

// Whoever has what is in the Secret at any time is answered, before, while and after the certificate is replaced.
func TestMutualOverRotations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := newHub(t)
		k := mutual(t, hub)
		secret := types.NamespacedName{Namespace: "fleetscale-system", Name: "webhook-certs"}
		if _, err := Client(t.Context(), k.options.Core, secret, "webhook"); err == nil || !strings.Contains(err.Error(), "no authority yet") {
			t.Errorf("before there is a certificate: %v", err)
		}
		if _, ofServer := greet(&tls.Config{InsecureSkipVerify: true}, k.Server()); ofServer == nil { //nolint:gosec // it is not reached
			t.Error("answered before there is a certificate")
		}
		served := map[string]bool{}
		for range 60 * 2 { // an hour
			before, _ := Client(t.Context(), k.options.Core, secret, "webhook")
			k.sync(quiet(t))
			now, err := Client(t.Context(), k.options.Core, secret, "webhook")
			if err != nil {
				t.Fatal(err)
			}
			for _, client := range []*tls.Config{before, now} {
				if client == nil {
					continue // the first time
				}
				if ofClient, ofServer := greet(client, k.Server()); ofClient != nil || ofServer != nil {
					t.Fatalf("client: %v, server: %v", ofClient, ofServer)
				}
			}
			certPEM, _ := k.CurrentCertKeyContent()
			served[string(certPEM)] = true
			time.Sleep(3 * k.options.CheckPeriod)
		}
		if len(served) < 4 {
			t.Errorf("%d certificates were served", len(served))
		}
	})
}

// Nobody else is answered, and nobody else is taken for the server.
func TestMutualWithOthers(t *testing.T) {
	hub, others := newHub(t), newHub(t)
	k, other := mutual(t, hub), mutual(t, others)
	k.sync(quiet(t))
	other.sync(quiet(t))
	secret := types.NamespacedName{Namespace: "fleetscale-system", Name: "webhook-certs"}
	client := func(of *Keeper) *tls.Config {
		t.Helper()
		c, err := Client(t.Context(), of.options.Core, secret, "webhook")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if ofClient, ofServer := greet(client(k), k.Server()); ofClient != nil || ofServer != nil {
		t.Fatalf("of the same Secret: %v, %v", ofClient, ofServer)
	}
	with := func(change func(*tls.Config)) *tls.Config { c := client(k); change(c); return c }
	for name, c := range map[string]*tls.Config{
		"without a certificate":           with(func(c *tls.Config) { c.Certificates = nil }),
		"with one of another Secret":      with(func(c *tls.Config) { c.Certificates = client(other).Certificates }),
		"with one that is for a server":   with(func(c *tls.Config) { c.Certificates = []tls.Certificate{*serverOnly(t).tls} }),
		"of an old version of TLS":        with(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 }),
		"who is told by another Secret":   with(func(c *tls.Config) { c.RootCAs = client(other).RootCAs }),
		"who means a server of that name": with(func(c *tls.Config) { c.ServerName = "other.fleetscale-system.svc" }),
	} {
		if ofClient, ofServer := greet(c, k.Server()); ofClient == nil && ofServer == nil {
			t.Errorf("%s: answered", name)
		}
	}
	if _, err := Client(t.Context(), k.options.Core, secret, "other"); err == nil {
		t.Error("a certificate of another name is used")
	}
	missing := types.NamespacedName{Namespace: "fleetscale-system", Name: "not-there"}
	if _, err := Client(t.Context(), k.options.Core, missing, "webhook"); err == nil ||
		!strings.HasPrefix(err.Error(), "getting Secret fleetscale-system/not-there: ") {
		t.Errorf("without a Secret: %v", err)
	}
}

func serverOnly(t *testing.T) *pair {
	t.Helper()
	p, err := issue("webhook.fleetscale-system.svc", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func quiet(t *testing.T) context.Context { return logr.NewContext(t.Context(), logr.Discard()) }

// bundles are the authorities that the hub verifies us by, in the order of the manifests.
func bundles(hub *fakeHub) []string {
	var all []string
	for _, path := range []string{mutatingPath, validatingPath} {
		for _, webhook := range hub.object(path)["webhooks"].([]any) {
			bundle, _ := webhook.(map[string]any)["clientConfig"].(map[string]any)["caBundle"].(string)
			all = append(all, bundle)
		}
	}
	bundle, _ := hub.object(ourAPIPath)["spec"].(map[string]any)["caBundle"].(string)
	return append(all, bundle)
}

// checkTrust verifies what a replica serves as an API server does.
func checkTrust(t *testing.T, k *Keeper, bundle string) {
	t.Helper()
	pem, err := base64.StdEncoding.DecodeString(bundle)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	served, err := k.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := served.Leaf.Verify(x509.VerifyOptions{DNSName: "webhook.fleetscale-system.svc", Roots: roots}); err != nil {
		t.Errorf("the hub does not trust what is served: %v", err)
	}
}

func TestFirstCertificate(t *testing.T) {
	hub := newHub(t)
	theirs := hub.object(theirAPIPath)
	k := replica(t, hub, freely)
	k.options.Mutual = false
	changes := 0
	k.OnChange(func() { changes++ })
	if err := k.Ready(); err == nil {
		t.Error("ready before there is a certificate")
	}
	if _, err := k.GetCertificate(nil); err == nil {
		t.Error("served before there is a certificate")
	}

	k.sync(quiet(t))
	if err := k.Ready(); err != nil {
		t.Errorf("not ready: %v", err)
	}
	want := base64.StdEncoding.EncodeToString(hub.data(t)["ca.crt"])
	if diff := cmp.Diff([]string{want, want, want, want}, bundles(hub)); diff != "" {
		t.Errorf("caBundles (-want the Secret's +got):\n%s", diff)
	}
	checkTrust(t, k, want)
	if spec := hub.object(ourAPIPath)["spec"].(map[string]any); spec["insecureSkipTLSVerify"] != nil {
		t.Errorf("APIService that leads to us = %v, want it verified", spec)
	}
	if diff := cmp.Diff(theirs, hub.object(theirAPIPath)); diff != "" {
		t.Errorf("APIService that leads elsewhere was written (-before +after):\n%s", diff)
	}
	if hub.object(mutatingPath)["webhooks"].([]any)[0].(map[string]any)["fieldOfALaterVersion"] == nil {
		t.Error("a field that we do not know was lost")
	}
	certPEM, keyPEM := k.CurrentCertKeyContent()
	data := hub.data(t)
	if string(certPEM) != string(data["tls.crt"]) || string(keyPEM) != string(data["tls.key"]) {
		t.Error("what is served is not what the Secret holds")
	}

	before := hub.written()
	k.sync(quiet(t))
	if got := hub.written() - before; got != 0 || changes != 1 {
		t.Errorf("%d writes and %d changes by a second sync, want none and the first", got, changes-1)
	}
}

func TestReplicasThatStartTogetherServeTheSame(t *testing.T) {
	hub := newHub(t)
	var all []*Keeper
	var running sync.WaitGroup
	for range 5 {
		k := replica(t, hub, freely)
		all = append(all, k)
		running.Go(func() { k.sync(quiet(t)) })
	}
	running.Wait()
	for _, k := range all {
		k.sync(quiet(t))
		if got, _ := k.CurrentCertKeyContent(); string(got) != string(hub.data(t)["tls.crt"]) {
			t.Error("a replica serves another certificate than the Secret's")
		}
		checkTrust(t, k, bundles(hub)[0])
	}
}

// A replica reads, another one goes a step further, and then the first writes.
func TestWhoReadTooEarlyOverwritesNothing(t *testing.T) {
	for name, nth := range map[string]int{"before it read anything": 0, "after its first read": 1, "after its second": 2, "before its last": 5,
		"before it writes": 6} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hub := newHub(t)
				quick := replica(t, hub, freely)
				quick.sync(quiet(t))
				time.Sleep(15 * time.Minute) // a third of the time is left

				requests := 0
				slow := replica(t, hub, func(*http.Request) int {
					if requests == nth {
						quick.sync(quiet(t))
					}
					requests++
					return 0
				})
				slow.options.Validity = time.Minute                    // it would not issue yet, as if its clock were late
				hub.change(mutatingPath, func(object map[string]any) { // so that it has to write
					delete(object["webhooks"].([]any)[1].(map[string]any)["clientConfig"].(map[string]any), "caBundle")
				})
				slow.sync(quiet(t))
				if hub.data(t)["next-tls.crt"] == nil {
					t.Fatal("no pair was issued ahead")
				}
				want := base64.StdEncoding.EncodeToString(hub.data(t)["ca.crt"])
				if diff := cmp.Diff([]string{want, want, want, want}, bundles(hub)); diff != "" {
					t.Errorf("caBundles (-want the Secret's +got):\n%s", diff)
				}
			})
		})
	}
}

// A target that cannot be read or written holds the next certificate back,
// until there is no other.
func TestNothingIsServedThatATargetDoesNotTrust(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPut} {
		t.Run(method+" is forbidden", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hub, forbidden := newHub(t), atomic.Bool{}
				k := replica(t, hub, func(r *http.Request) int {
					if forbidden.Load() && r.Method == method && r.URL.Path == ourAPIPath {
						return http.StatusForbidden
					}
					return 0
				})
				go k.Run(quiet(t))
				synctest.Wait()
				first, _ := k.CurrentCertKeyContent()
				forbidden.Store(true)

				time.Sleep(20*time.Minute + 30*time.Second)
				if now, _ := k.CurrentCertKeyContent(); string(now) != string(first) {
					t.Error("a certificate is served that an APIService does not trust")
				}
				if hub.data(t)["next-tls.crt"] == nil {
					t.Error("no pair was issued ahead")
				}
				if err := k.Ready(); err != nil {
					t.Errorf("not ready, although what is served is trusted: %v", err)
				}
				time.Sleep(time.Minute)
				if now, _ := k.CurrentCertKeyContent(); string(now) == string(first) {
					t.Error("an expired certificate is served")
				}
				forbidden.Store(false)
				time.Sleep(time.Minute)
				checkTrust(t, k, bundles(hub)[3])
			})
		})
	}
}

func TestAConflictIsThoughtOverAtOnce(t *testing.T) {
	hub, conflicts := newHub(t), 0
	k := replica(t, hub, func(r *http.Request) int {
		if r.Method == http.MethodPut && r.URL.Path == secretPath && conflicts == 0 {
			conflicts++
			hub.change(secretPath, func(object map[string]any) { object["data"] = map[string]any{"note": "eA=="} })
		}
		return 0
	})
	k.sync(quiet(t))
	if err := k.Ready(); err != nil || conflicts != 1 {
		t.Errorf("after one sync and %d conflicts: %v, want it ready", conflicts, err)
	}
}

func TestWhatPeopleDoToTheSecret(t *testing.T) {
	for name, changed := range map[string]map[string]any{
		"emptied":                    nil,
		"not PEM":                    {"tls.crt": "eA==", "tls.key": "eA==", "ca.crt": "eA=="},
		"something beside":           {"note": "eA=="},
		"a pair without its key":     {"tls.crt": "own"},
		"a pair of another hostname": {"tls.crt": "other", "tls.key": "other"},
	} {
		t.Run(name, func(t *testing.T) {
			hub := newHub(t)
			k := replica(t, hub, freely)
			k.sync(quiet(t))
			before, _ := k.CurrentCertKeyContent()
			other, err := issueMutual("other.fleetscale-system.svc", time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			encoded := map[any]map[string][]byte{"own": hub.data(t), "other": {"tls.crt": other.certPEM, "tls.key": other.keyPEM}}
			for key, value := range changed {
				if data, found := encoded[value]; found {
					changed[key] = base64.StdEncoding.EncodeToString(data[key])
				}
			}
			hub.change(secretPath, func(object map[string]any) { object["data"] = changed })

			k.sync(quiet(t))
			if now, _ := k.CurrentCertKeyContent(); string(now) != string(before) || string(now) != string(hub.data(t)["tls.crt"]) {
				t.Error("what is served, or stored, is not what was served before")
			}
			checkTrust(t, k, bundles(hub)[0])
			if _, found := changed["note"]; found && hub.data(t)["note"] == nil {
				t.Error("somebody's entry was lost")
			}

			late := replica(t, hub, freely) // has nothing in memory
			late.sync(quiet(t))
			checkTrust(t, late, bundles(hub)[0])
		})
	}
}

func TestFaultsAreToldOnce(t *testing.T) {
	hub := newHub(t)
	delete(hub.objects, secretPath)
	var lines []string
	ctx := logr.NewContext(t.Context(), funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}))
	k := replica(t, hub, freely)
	k.sync(ctx)
	k.sync(ctx)
	const want = "getting Secret fleetscale-system/webhook-certs, which must exist, and may be empty: the hub says NotFound"
	if err := k.Ready(); err == nil || err.Error() != want {
		t.Errorf("Ready() = %v, want %s", err, want)
	}
	if len(lines) != 1 || !strings.Contains(lines[0], want) {
		t.Errorf("logged %q, want one line", lines)
	}
	refused := replica(t, newHub(t), func(r *http.Request) int {
		if r.URL.Path == validatingPath {
			return http.StatusForbidden
		}
		return 0
	})
	refused.sync(ctx)
	const wantRight = "getting validatingwebhookconfigurations/fleetscale: the hub says Forbidden"
	if err := refused.Ready(); err == nil || err.Error() != wantRight {
		t.Errorf("Ready() = %v, want %s", err, wantRight)
	}
}

func TestExpiryIsExportedAndEndsReadiness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // begins in the year 2000
		k := replica(t, newHub(t), freely)
		k.sync(quiet(t))
		const want = `
# HELP fleetscale_serving_certificate_expiration_timestamp_seconds When the self-signed certificate that is served expires, in seconds since 1970.
# TYPE fleetscale_serving_certificate_expiration_timestamp_seconds gauge
fleetscale_serving_certificate_expiration_timestamp_seconds 9.4668606e+08
`
		if err := testutil.CollectAndCompare(k.options.Metrics.expires, strings.NewReader(want)); err != nil {
			t.Error(err)
		}
		time.Sleep(21*time.Minute - time.Second)
		if err := k.Ready(); err != nil {
			t.Errorf("not ready a second before the end: %v", err)
		}
		time.Sleep(2 * time.Second)
		if err := k.Ready(); err == nil || err.Error() != "the serving certificate has expired" {
			t.Errorf("Ready() = %v, want that it has expired", err)
		}
	})
}

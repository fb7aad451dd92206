// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// A cluster leaves by the deletion of its Secret, and joins by its creation.
// Neither is a fault, so nothing is complained of.
func TestLeaveAndJoin(t *testing.T) {
	e := whole(t)
	e.leave(t, "member3")
	for _, path := range []string{shopPath, allPath} {
		e.sees(t, "the cluster has left "+path, path, func(v view) error {
			if got, want := v.Coverage.Header(), "answered=member1,member2"; got != want || v.Warning != "" {
				return fmt.Errorf("the coverage is %q, want %q; the warning is %q", got, want, v.Warning)
			}
			return hasPods(v, "member1", "member2")
		})
	}
	e.hears(t, "the sum is of those who stayed", serviceMetric(presence), whollyTells("web 2"))
	e.hears(t, "so are the series", externalMetric(presence), whollyTells("of=member1 1", "of=member2 1"))
	for _, name := range []string{"fleetscale_cluster_ready", "fleetscale_cluster_requests_total", "fleetscale_usage_samples",
		"fleetscale_relay_requests_total", "fleetscale_relay_catalogue_metrics"} {
		if value, found := metric(t, e.adapter, name, `cluster="member3"`); found {
			t.Errorf("%s of the cluster that left is still there: %v", name, value)
		}
	}
	e.registersNowhere(t)
	e.join(t, "member3")
	e.recovers(t)
}

// registersNowhere registers an address that nobody answers at: it is listed as what it is, and lacks in no answer.
func (e *env) registersNowhere(t *testing.T) {
	t.Helper()
	registration := fmt.Sprintf(nowhere, fixture.RegistrationNamespace)
	e.feed(t, registration)
	t.Cleanup(func() {
		if _, err := e.Feed(afterwards(t), registration, "delete", "--ignore-not-found", "-f", "-"); err != nil {
			t.Error(err)
		}
	})
	e.registered(t, "the dead address is listed", "secret.nowhere", "Unreachable")
	if joining, _ := metric(t, e.adapter, "fleetscale_cluster_joining", `cluster="nowhere"`); joining != 1 {
		t.Errorf("fleetscale_cluster_joining of the dead address is %v, want 1", joining)
	}
	e.sees(t, "no answer lacks the dead address", shopPath, func(v view) error {
		if got, want := v.Coverage.Header(), "answered=member1,member2"; got != want || v.Warning != "" {
			return fmt.Errorf("the coverage is %q, want %q; the warning is %q", got, want, v.Warning)
		}
		return nil
	})
	e.hears(t, "nor does a sum", serviceMetric(presence), whollyTells("web 2"))
}

const nowhere = `
apiVersion: v1
kind: Secret
metadata: {name: nowhere, namespace: %s, labels: {fleetscale.io/member: "true"}}
stringData:
  kubeconfig: |
    apiVersion: v1
    kind: Config
    current-context: nowhere
    contexts: [{name: nowhere, context: {cluster: nowhere, user: nobody}}]
    clusters: [{name: nowhere, cluster: {server: "https://127.0.0.1:1"}}]
    users: [{name: nobody, user: {token: none}}]
`

// A cluster that did not exist when the adapter started becomes a member.
func TestNewClusterJoins(t *testing.T) {
	if testing.Short() {
		t.Skip("runs in the long form, `make test-full PARTS=e2e`: a new cluster takes half a minute to start")
	}
	e := whole(t)
	added, err := e.AddMember(t.Context(), lab.Member{Name: "member4", Nodes: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.openShop(t.Context(), added, 4); err != nil {
		t.Fatal(err)
	}
	e.join(t, "member4")
	t.Cleanup(func() { _ = e.Leave(afterwards(t), "member4") })
	e.sees(t, "the new cluster's pods are there", shopPath, func(v view) error {
		return hasPods(v, append(allMembers(), "member4")...)
	})
	e.leave(t, "member4")
	e.recovers(t)
}

// Without any registration nobody can answer, and that is not "no pods".
func TestNoRegistration(t *testing.T) {
	e := whole(t)
	for _, member := range allMembers() {
		e.leave(t, member)
	}
	for _, path := range []string{shopPath, allPath, v1beta1 + "/nodes"} {
		e.sees(t, "nobody is registered for "+path, path, func(v view) error {
			if v.Code == http.StatusOK && len(v.items) == 0 {
				t.Errorf("GET %s: an empty 200", path)
			}
			if v.Code != http.StatusServiceUnavailable || !strings.Contains(v.Message, "no member cluster is registered") {
				return fmt.Errorf("%d %s, %d items; want 503", v.Code, v.Message, len(v.items))
			}
			return nil
		})
	}
	for _, path := range []string{serviceMetric(presence), podsMetric(presence), externalMetric(presence)} {
		e.hears(t, "nobody is registered for "+path, path, refuses(http.StatusServiceUnavailable, "no member cluster is registered"))
	}
	for path := range metricAPIs(presence) {
		if _, err := resources(t.Context(), config(t, e.Hub()), path); err != nil {
			t.Errorf("nobody is registered: %v", err) // clients take an API without resources for broken
		}
	}
	for _, member := range allMembers() {
		e.join(t, member)
	}
	e.recovers(t)
}

// A kubeconfig that would run a program in the adapter's container is refused.
// The reason stands in the answers, and as an Event on the Secret.
func TestExecPluginIsRefused(t *testing.T) {
	e := whole(t)
	kubeconfig := strings.NewReplacer("URL", e.Members()[0].URL).Replace(`
apiVersion: v1
kind: Config
current-context: plugin
contexts: [{name: plugin, context: {cluster: plugin, user: plugin}}]
clusters: [{name: plugin, cluster: {server: "URL"}}]
users: [{name: plugin, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, interactiveMode: Never}}}]
`)
	e.register(t, "plugin", []byte(kubeconfig))
	t.Cleanup(func() { _ = e.Leave(afterwards(t), "plugin") })
	e.registered(t, "the registration is refused", "secret.plugin", "ExecNotAllowed")
	e.sees(t, "no answer lacks what was never a cluster", allPath, func(v view) error {
		if v.Warning != "" {
			return fmt.Errorf("the warning is %q", v.Warning)
		}
		return hasPods(v, allMembers()...)
	})
	eventually(t, "an Event tells it", func(ctx context.Context) error {
		said, err := e.Ask(ctx, "-n", fixture.RegistrationNamespace, "events", "--for=secret/plugin")
		if err == nil && !strings.Contains(said.Stdout, "ExecNotAllowed") {
			err = errors.New(said.Stdout + said.Stderr)
		}
		return err
	})
	e.leave(t, "plugin")
	e.recovers(t)
}

func (e *env) leave(t *testing.T, name string) {
	t.Helper()
	if err := e.Leave(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

func (e *env) join(t *testing.T, name string) {
	t.Helper()
	member := e.cluster(t, name)
	if err := e.Join(t.Context(), member); err != nil {
		t.Fatal(err)
	}
}

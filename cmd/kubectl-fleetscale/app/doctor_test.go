// SPDX-License-Identifier: Apache-2.0

package app

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/doctor"
)

func TestDoctorRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		`--output: there is no format "xml"`:                                          {"-o", "xml"},
		`--member-context: must be MEMBER=CONTEXT, as in east=admin@east, got "east"`: {"--member-context", "east"},
		`got "East=x"`:                          {"--member-context", "East=x"},
		`got "east="`:                           {"--member-context", "east="},
		"--member-context: east is given twice": {"--member-context", "east=a", "--member-context", "east=b"},
		`--apis: unknown API group "nothing"`:   {"--apis", "nothing"},
		"--namespaces: ":                        {"--namespaces", "kube-system"},
		`unknown command "east" for "kubectl fleetscale doctor"`: {"east"},
		"no kubeconfig found: give --kubeconfig FILE":            {"--kubeconfig", ""},
		`context "nowhere" does not exist`:                       {"--context", "nowhere"},
	} {
		t.Setenv("HOME", t.TempDir())
		t.Setenv("KUBECONFIG", "/nowhere/config")
		if _, err := run(t, append([]string{"doctor"}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error = %v, want %s", args, err, want)
		}
	}
}

// guarded is a hub that grants nothing but what everybody has.
func guarded(t *testing.T) (kubeconfig string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "no"}`
		if r.URL.Path == "/version" {
			answer = `{}`
		} else {
			w.WriteHeader(http.StatusForbidden)
		}
		if _, err := w.Write([]byte(answer)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	kubeconfig = filepath.Join(t.TempDir(), "config")
	config := `{apiVersion: v1, kind: Config, current-context: hub, contexts: [{name: hub, context: {cluster: hub}}],
  clusters: [{name: hub, cluster: {server: "` + server.URL + `"}}]}`
	if err := os.WriteFile(kubeconfig, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// Who may do nothing is told what it takes, by every check, and of no fault.
func TestDoctorWithoutRights(t *testing.T) {
	out, err := run(t, "doctor", "--kubeconfig", guarded(t), "-o", "json", "--member-context", "east=nowhere")
	exit := (*plugin.ExitError)(nil)
	if !errors.As(err, &exit) || exit.Code != exitUnchecked {
		t.Errorf("error = %v, want exit code %d", err, exitUnchecked)
	}
	var report doctor.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if report.Count(doctor.NotChecked) != len(report.Checks) {
		t.Errorf("something was checked:\n%s", out)
	}
	for _, want := range []string{
		`needs list apiservices.apiregistration.k8s.io"`, `needs list secrets in fleetscale-clusters-write"`, `needs list secrets"`,
		`needs list leases.coordination.k8s.io in fleetscale-system"`, `needs create federatedhpas.autoscaling.karmada.io in default"`,
		`needs list federatedhpas.autoscaling.karmada.io"`, `needs get serviceaccounts in fleetscale-system"`,
		`needs list nodes of metrics.k8s.io"`, `east: the kubeconfig has no context \"nowhere\"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	if out, err := run(t, "doctor", "--kubeconfig", guarded(t)); err == nil || !strings.Contains(out, "not made, or not whole") ||
		!strings.Contains(out, "- give --member-context") && !strings.Contains(out, "? not checked") {
		t.Errorf("%v\n%s", err, out)
	}
}

// In some namespaces only, autoscalers of others are not asked for.
func TestDoctorInSomeNamespaces(t *testing.T) {
	out, _ := run(t, "doctor", "--kubeconfig", guarded(t), "--namespaces", "shop")
	for _, want := range []string{"needs list federatedhpas.autoscaling.karmada.io in shop",
		"needs list namespaces/shop/pods of metrics.k8s.io", "needs create federatedhpas.autoscaling.karmada.io in shop"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
}

// Whatever leads to the hub is in the commands that are printed, and no token.
func TestDoctorRepeatsTheConnection(t *testing.T) {
	args := []string{"--kubeconfig", "/k", "--context", "hub", "--cluster", "c", "--user", "u", "--server", "https://h",
		"--token", "secret", "--as", "sre", "--as-group", "a", "--as-group", "b", "--as-uid", "1", "--as-user-extra", "x=y",
		"--certificate-authority", "/ca", "--client-certificate", "/c", "--client-key", "/key", "--tls-server-name", "n",
		"--insecure-skip-tls-verify=false", "-n", "shop", "--request-timeout", "5s", "--cache-dir", "/cache", "--apis", "metrics.k8s.io"}
	want := []doctor.Flag{
		{Name: "as", Value: "sre"}, {Name: "as-group", Value: "a"}, {Name: "as-group", Value: "b"}, {Name: "as-uid", Value: "1"},
		{Name: "as-user-extra", Value: "x=y"}, {Name: "certificate-authority", Value: "/ca"}, {Name: "client-certificate", Value: "/c"},
		{Name: "client-key", Value: "/key"}, {Name: "cluster", Value: "c"}, {Name: "context", Value: "hub"},
		{Name: "insecure-skip-tls-verify=false"}, {Name: "kubeconfig", Value: "/k"}, {Name: "server", Value: "https://h"},
		{Name: "tls-server-name", Value: "n"}, {Name: "token", Value: "TOKEN"}, {Name: "user", Value: "u"},
	}
	for _, tc := range []struct {
		args []string
		want []doctor.Flag
	}{{args, want}, {[]string{"--context", "", "-n", "shop"}, nil}} {
		streams := genericiooptions.NewTestIOStreamsDiscard()
		cmd, _, err := NewCommand(streams).Find([]string{"doctor"})
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.ParseFlags(tc.args); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, connection(cmd.Flags(), plugin.NewCaller(streams))); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tc.args, diff)
		}
	}
}

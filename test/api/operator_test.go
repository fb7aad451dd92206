// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const monitoring = "../../deploy/components/monitoring/"

// operator has the kinds of the Prometheus operator.
func operator(t *testing.T) map[string]server {
	t.Helper()
	all := map[string]server{}
	for _, kind := range []string{"servicemonitors", "prometheusrules"} {
		crd := load(t, "prometheus-operator/monitoring.coreos.com_"+kind+".yaml")
		all[crd.Spec.Names.Kind] = serve(t, crd)
	}
	return all
}

// A hub with the Prometheus operator takes our ServiceMonitors and alerts as they are, and drops nothing of them: with strict field
// validation, as of kubectl, what it drops would be refused.
func TestOperatorTakesWhatWeMonitorWith(t *testing.T) {
	kinds, seen := operator(t), map[string]int{}
	for _, file := range []string{"servicemonitors.yaml", "alerts.yaml"} {
		for _, object := range documents(t, monitoring+file) {
			seen[object.GetKind()]++
			survives(t, object.GetKind(), kinds[object.GetKind()], object.Object)
		}
	}
	if seen["ServiceMonitor"] != 3 || seen["PrometheusRule"] != 1 {
		t.Errorf("there are %v", seen)
	}
}

// What the operator would not understand is found out.
func TestOperatorRefuses(t *testing.T) {
	kinds := operator(t)
	for name, tc := range map[string]struct{ file, from, to, want string }{
		"a field that there is not":  {"servicemonitors.yaml", "serverName:", "servername:", ".spec.endpoints[0].tlsConfig.servername"},
		"a list that is a text":      {"servicemonitors.yaml", "endpoints:\n  - port", "endpoints:\n    port", "spec.endpoints"},
		"a scheme that there is not": {"servicemonitors.yaml", "scheme: https", "scheme: tls", "spec.endpoints[0].scheme"},
		"a duration that is none":    {"alerts.yaml", "for: 5m", "for: five minutes", "spec.groups[0].rules[0].for"},
		"an alert without a rule":    {"alerts.yaml", "expr: |", "expression: |", ".spec.groups[0].rules[0].expression"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(monitoring + tc.file)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(text), tc.from, tc.to, 1)
			if changed == string(text) {
				t.Fatalf("%s has no %q", tc.file, tc.from)
			}
			file := filepath.Join(t.TempDir(), tc.file)
			if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			object := documents(t, file)[0]
			stored, errs := kinds[object.GetKind()].create(t.Context(), object.Object)
			found := strings.Join(dropped("", object.Object, stored), "\n")
			if len(errs) > 0 {
				found += errs.ToAggregate().Error()
			}
			if !strings.Contains(found, tc.want) {
				t.Errorf("found %q, want %s", found, tc.want)
			}
		})
	}
}

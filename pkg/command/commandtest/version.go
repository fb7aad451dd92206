// SPDX-License-Identifier: Apache-2.0

package commandtest

import (
	"path/filepath"
	"strings"
	"testing"
)

// SaysVersion fails the test where the program, once built, does not say its
// own version: to a person, to the hub as name/version, and at metricsURL. It is
// started with the arguments and --kubeconfig.
func SaysVersion(t *testing.T, name, metricsURL string, args ...string) {
	t.Helper()
	program := Build(t)
	want := filepath.Base(program) + " " + Version + "\n"
	if got := Output(t, program, "--version"); got != want {
		t.Errorf("--version prints %q, want %q", got, want)
	}
	hub, kubeconfig := StartHub(t)
	Start(t, program, append(args, "--kubeconfig="+kubeconfig)...)
	if metrics := Get(t, metricsURL, "fleetscale_build_info{"); !strings.Contains(metrics, `version="`+Version+`"} 1`) {
		t.Errorf("fleetscale_build_info has another version:\n%s", metrics)
	}
	if err := Await(t, func() bool { return len(hub.Agents()) > 0 }); err != nil {
		t.Fatalf("the hub is asked nothing: %v", err)
	}
	for _, agent := range hub.Agents() {
		if !strings.HasPrefix(agent, name+"/"+Version) {
			t.Errorf("User-Agent %q, want %s/%s", agent, name, Version)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package commandtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	metrics := Get(t, metricsURL, "fleetscale_build_info{")
	if !strings.Contains(metrics, `version="`+Version+`"} 1`) {
		t.Errorf("fleetscale_build_info has another version:\n%s", metrics)
	}
	areOnThePage(t, strings.TrimPrefix(name, "fleetscale-"), metrics)
	if err := Await(t, func() bool { return len(hub.Agents()) > 0 }); err != nil {
		t.Fatalf("the hub is asked nothing: %v", err)
	}
	for _, agent := range hub.Agents() {
		if !strings.HasPrefix(agent, name+"/"+Version) {
			t.Errorf("User-Agent %q, want %s/%s", agent, name, Version)
		}
	}
}

// areOnThePage fails the test where what a program tells of itself is not in docs/metrics-reference.md, as of that type and program.
func areOnThePage(t *testing.T, program, metrics string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/metrics-reference.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`(?m)^# TYPE (fleetscale_\w+) (\w+)$`).FindAllStringSubmatch(metrics, -1) {
		row := regexp.MustCompile("(?m)^\\| `" + found[1] + "` \\| " + found[2] + " \\| [^|]*\\| ([^|]*) \\|").FindStringSubmatch(string(page))
		if row == nil || !slices.Contains(strings.Split(row[1], ", "), program) {
			t.Errorf("docs/metrics-reference.md lacks the %s %s of %s", found[2], found[1], program)
		}
	}
}

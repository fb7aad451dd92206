// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

func TestOptionsAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"an unknown experiment": {[]string{"--only=lists"}, `--only: there is no experiment "lists", but ` + strings.Join(names(), ", ")},
		"a process of nobody":   {[]string{"--pid=1"}, "--pid: it is that of the server that --kubeconfig leads to, which is not set"},
		"an experiment for strangers": {[]string{"--kubeconfig=x", "--only=list"},
			"--only: experiments are not for a server that --kubeconfig leads to"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := newCommand()
			cmd.SetArgs(tc.args)
			if err := cmd.ExecuteContext(t.Context()); err == nil || err.Error() != tc.want {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
}

func TestExperimentsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{targetName: true}
	for _, e := range experiments() {
		if seen[e.Name] || e.Run == nil {
			t.Errorf("experiment %q is there twice, or does nothing", e.Name)
		}
		seen[e.Name] = true
	}
}

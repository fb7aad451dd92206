// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestPause(t *testing.T) {
	hub := &objects{}
	const web = autoscalers + "federatedhpas/web"
	hub.hold(t, web, "{apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, metadata: {}, spec: {maxReplicas: 3}}")
	hub.hold(t, autoscalers+"cronfederatedhpas/office", officeRules)
	kubeconfig := hub.serve(t)
	do := func(want string, args ...string) {
		t.Helper()
		out, err := run(t, append(args, "--kubeconfig", kubeconfig)...)
		if err != nil {
			t.Fatal(err)
		}
		fleettest.Same(t, strings.Join(args, " "), want, out)
	}
	do("FederatedHPA shop/web: paused (server dry run)\n", "pause", "fhpa/web", "--dry-run=server")
	if mode := hub.at(web, "spec", "mode"); mode != nil {
		t.Errorf("a dry run set the mode %v", mode)
	}
	do("FederatedHPA shop/web: paused\nCronFederatedHPA shop/office: paused: rules morning, noon are suspended\n",
		"pause", "fhpa/web", "cronfhpa/office")
	fleettest.Same(t, "mode", any("Paused"), hub.at(web, "spec", "mode"))
	writes := hub.patches
	do("FederatedHPA shop/web: unchanged: it is paused already\n", "pause", "fhpa", "web")
	if hub.patches != writes {
		t.Error("what is so already was written")
	}
	do("FederatedHPA shop/web: resumed\n", "resume", "fhpa/web", "-n", "shop")
	fleettest.Same(t, "mode", any("Active"), hub.at(web, "spec", "mode"))

	out, err := run(t, "pause", "fhpa/none", "fhpa/web", "--scale-down", "--kubeconfig", kubeconfig)
	if err == nil || !strings.HasPrefix(err.Error(), "FederatedHPA shop/none: ") || out != "FederatedHPA shop/web: scale-in paused\n" {
		t.Errorf("one of two is missing: %v\n%s", err, out)
	}
	for _, tc := range []struct {
		want string
		args []string
	}{{"fhpa/", []string{"f"}}, {"fhpa/web", []string{"fhpa/w"}}, {"web", []string{"fhpa", ""}}} {
		out, err := run(t, append([]string{"__complete", "resume", "--kubeconfig", kubeconfig}, tc.args...)...)
		if err != nil || !strings.HasPrefix(out, tc.want+"\n") {
			t.Errorf("error %v, and after %v is offered:\n%s", err, tc.args, out)
		}
	}
	const refused = `--dry-run: must be one of none, server, got "client"`
	if _, err := run(t, "pause", "fhpa/web", "--dry-run=client"); err == nil || err.Error() != refused {
		t.Errorf("a dry run that is none: %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestTop(t *testing.T) {
	hub := &objects{warning: "1 of 3 clusters did not answer: north (Timeout)"}
	for i, cluster := range []string{"west", "east"} {
		labels := fmt.Sprintf("{labels: {fleetscale.io/cluster: %s}}", cluster)
		hub.hold(t, fmt.Sprintf("/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods/web-%d", i), fmt.Sprintf(`
{apiVersion: metrics.k8s.io/v1beta1, kind: PodMetrics, metadata: %s,
  containers: [{name: web, usage: {cpu: 1%d0m, memory: 96Mi}}]}`, labels, i))
		hub.hold(t, fmt.Sprintf("/apis/metrics.k8s.io/v1beta1/nodes/node-%d", i), fmt.Sprintf(
			`{apiVersion: metrics.k8s.io/v1beta1, kind: NodeMetrics, metadata: %s, usage: {cpu: 2, memory: 1Gi}}`, labels))
	}
	kubeconfig := hub.serve(t)
	for name, tc := range map[string]struct{ args, want string }{
		"pods": {"pods", "NAME    CLUSTER   CPU(CORES)   MEMORY(BYTES)\n" +
			"web-0   west      100m         96Mi\nweb-1   east      110m         96Mi\n"},
		"pods everywhere": {"pods -A --sort-by cpu", "NAMESPACE   NAME    CLUSTER   CPU(CORES)   MEMORY(BYTES)\n" +
			"shop        web-1   east      110m         96Mi\nshop        web-0   west      100m         96Mi\n"},
		"containers": {"po --containers", "NAME    CONTAINER   CLUSTER   CPU(CORES)   MEMORY(BYTES)\n" +
			"web-0   web         west      100m         96Mi\nweb-1   web         east      110m         96Mi\n"},
		"nodes of clusters": {"nodes --by-cluster", "CLUSTER   NODES   CPU(CORES)   MEMORY(BYTES)\n" +
			"east      1       2000m        1024Mi\nwest      1       2000m        1024Mi\n(all)     2       4000m        2048Mi\n"},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, out, errOut := genericiooptions.NewTestIOStreams()
			cmd := NewCommand(streams)
			cmd.SetArgs(append([]string{"top", "--kubeconfig", kubeconfig}, strings.Fields(tc.args)...))
			if err := cmd.ExecuteContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			fleettest.Same(t, "printed", tc.want, out.String())
			if !strings.Contains(errOut.String(), "Warning: "+hub.warning) {
				t.Errorf("no warning that a member is silent: %q", errOut)
			}
		})
	}
	for args, want := range map[string]string{
		"top pods --sort-by name":            `--sort-by: must be one of cpu, memory, got "name"`,
		"top pods -l a==":                    "",
		"top nodes -l a=(b":                  "--selector: ",
		"top pods --containers --by-cluster": "none of the others can be",
	} {
		_, err := run(t, append(strings.Fields(args), "--kubeconfig", kubeconfig)...)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error = %v, want %q", args, err, want)
		}
	}
}

// A hub whose metrics are not ours says no clusters; people are told why.
func TestTopOfAnotherServer(t *testing.T) {
	hub := &objects{}
	hub.hold(t, "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods/web",
		`{apiVersion: metrics.k8s.io/v1beta1, kind: PodMetrics, metadata: {}, containers: []}`)
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	cmd := NewCommand(streams)
	cmd.SetArgs([]string{"top", "pods", "--kubeconfig", hub.serve(t)})
	if err := cmd.ExecuteContext(t.Context()); err != nil || !strings.Contains(errOut.String(), "kubectl fleetscale takeover") {
		t.Errorf("error %v, told %q:\n%s", err, errOut, out)
	}
}

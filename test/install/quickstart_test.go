// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/test/lab"
)

// The commands of docs/quickstart.md do what the page says, in their order, and leave nothing behind.
func TestQuickstart(t *testing.T) {
	e, before := started(t), map[string]string{}
	for _, cluster := range []string{"hub", east, west} {
		before[cluster] = e.traced(t, cluster)
	}
	uses := func(cpu string) func() error {
		return func() error {
			return e.named(t, east).SetUsage(t.Context(), lab.Usage{
				Namespace: "default", Labels: map[string]string{"app": "web"}, CPU: new(resource.MustParse(cpu)),
			})
		}
	}
	p := e.newPage(t, []special{
		{command: "docker login registry.example.com   # or podman login, crane auth login", lacks: "registry"},
		{command: "make dist REGISTRY=registry.example.com/fleetscale", lacks: "time to build for six platforms",
			run: "ls bin/dist/install-crds.yaml bin/dist/install-standalone.yaml"},
		{command: "make push", lacks: "registry"},
		{command: `make build && export PATH="$PWD/bin:$PATH"`, lacks: "checkout here", run: `export PATH="$PWD/bin:$PATH"`},
		{command: "kubectl --context hub -n fleetscale-system rollout status deployment/metrics-adapter", lacks: "kubelet on the hub",
			do: func() error { return e.runs(t.Context()) }},
		{command: "kubectl --context hub get apiservice | grep fleetscale-system", want: []string{`(?s)(fleetscale-system/metrics-adapter +True.*){7}`}},
		{command: `kubectl fleetscale join east --context east   # with kind and k3d: --server "$(address east)"`,
			lacks: "address of a member that is not loopback", run: "kubectl fleetscale join east --context east --allow-local-members",
			want: []string{"east: Ready\n", "east joined\n"}},
		{command: `kubectl fleetscale join west --context west   # with kind and k3d: --server "$(address west)"`,
			lacks: "address of a member that is not loopback", run: "kubectl fleetscale join west --context west --allow-local-members",
			want: []string{"west joined\n"}},
		{command: "kubectl fleetscale status", seen: true, want: []string{`(?m)^east +Ready`, `(?m)^west +Ready`}},
		{command: "kubectl fleetscale top pods -A", want: []string{`kube-system +dns-\S+ +east`, `kube-system +dns-\S+ +west`}},
		{command: "kubectl get fhpa web", want: []string{`web +Deployment +web +cpu: \d+%/50% +2 +8 +2 +2 +2/2 +(Active|Limited)`}},
		{command: "kubectl --context east exec deploy/web -- timeout 120 sh -c 'while :; do :; done' &", lacks: "kubelet", do: uses("400m")},
		{command: "kubectl get fhpa web --watch", lacks: "person to end it",
			run:  "kubectl get fhpa web; kubectl --context west get deployment web",
			want: []string{`web +Deployment +web +\S+ +\S+ +2 +8 +[4-8] `, `web +[2-4]/[2-4] `}},
		{command: "kubectl fleetscale explain fhpa/web", seen: true,
			want: []string{`FederatedHPA default/web: 8 replicas, from 8: `, `(?m)^ +east +4 `, `divided +4 \+ 4 = 8`}},
		{command: "kubectl top pods -A        # a warning names west", seen: true, do: func() error {
			if err := e.named(t, west).Freeze(); err != nil { // docker pause west-control-plane
				return err
			}
			return uses("10m")()
		}, want: []string{"Warning: .*west"}},
		{command: "kubectl fleetscale status  # west is Silent", seen: true, want: []string{`(?m)^west +Silent`}},
		{command: "kubectl get fhpa web       # CLUSTERS is 1/2; also when the load is gone, no replica is taken away", seen: true,
			want: []string{`web +Deployment +web +cpu: [1-4]?\d%/50% +2 +8 +[4-8] +[4-8] +1/2 `}},
		{command: "kubectl delete fhpa web", do: e.named(t, west).Thaw}, // docker unpause
	}...)
	p.skip = []string{"kind create cluster", "k3d cluster create"}
	t.Cleanup(func() {
		_ = e.named(t, west).Thaw()
		for _, program := range e.running {
			_ = program.Kill()
		}
	})
	if _, err := p.run(t.Context(), "kubectl config rename-context hub my-hub"); err != nil { // as the page finds it
		t.Fatal(err)
	}
	p.types(e.commands(t, "quickstart.md", ""))
	p.shows("quickstart", "Two clusters, one autoscaler, and a cluster that is lost")
	for cluster, had := range before {
		if more := e.leaves(t, cluster, had); len(more) > 0 {
			t.Errorf("left in %s: %s", cluster, strings.Join(more, ", "))
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/test/fixture"
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
		{command: "kubectl fleetscale status", want: []string{`(?m)^east +Ready`, `(?m)^west +Ready`}},
		{command: "kubectl fleetscale top pods -A", want: []string{`kube-system +dns-\S+ +east`, `kube-system +dns-\S+ +west`}},
		{command: "kubectl get fhpa web", want: []string{`web +Deployment +web +cpu: \d+%/50% +2 +8 +2 +2 +2/2 +(Active|Limited)`}},
		{command: "kubectl --context east exec deploy/web -- timeout 120 sh -c 'while :; do :; done' &", lacks: "kubelet", do: uses("400m")},
		{command: "kubectl get fhpa web --watch", lacks: "person to end it",
			run:  "kubectl get fhpa web; kubectl --context west get deployment web",
			want: []string{`web +Deployment +web +\S+ +\S+ +2 +8 +[4-8] `, `web +[2-4]/[2-4] `}},
		{command: "kubectl top pods -A        # a warning names west", do: func() error {
			if err := e.named(t, west).Freeze(); err != nil { // docker pause west-control-plane
				return err
			}
			return uses("10m")()
		}, want: []string{"Warning: .*west"}},
		{command: "kubectl fleetscale status  # west is Silent", want: []string{`(?m)^west +Silent`}},
		{command: "kubectl get fhpa web       # CLUSTERS is 1/2; also when the load is gone, no replica is taken away",
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
	for cluster, had := range before {
		if more := e.leaves(t, cluster, had); len(more) > 0 {
			t.Errorf("left in %s: %s", cluster, strings.Join(more, ", "))
		}
	}
}

// runs has the programs run beside the hub, with the arguments of their Deployments, and leads the hub to them.
func (e *env) runs(ctx context.Context) error {
	ports, err := e.FreePorts(7)
	if err != nil {
		return err
	}
	serving := func(port int) []string {
		return []string{"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port)}
	}
	loopback := func(flag string, port int) string { return fmt.Sprintf("--%s-bind-address=127.0.0.1:%d", flag, port) }
	local := []string{"--allow-local-members", "--member-probe-period=2s", "--member-timeout=2s"}
	for _, program := range []struct {
		name, ready string
		args        []string
	}{
		{"metrics-adapter", fmt.Sprintf("https://127.0.0.1:%d/readyz", ports[0]),
			append(append(serving(ports[0]), local...), "--scrape-period=5s", "--max-age=15s")},
		{"webhook", fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[2]),
			append(serving(ports[1]), loopback("health-probe", ports[2]), loopback("metrics", ports[3]))},
		{"controller-manager", fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[4]),
			append(local, "--sync-period=2s", "--cpu-initialization-period=1s", "--initial-readiness-delay=1s",
				loopback("health-probe", ports[4]), loopback("metrics", ports[5]),
				"--record-bind-address=127.0.0.1", fmt.Sprintf("--record-port=%d", ports[6]))}, // in place of its Pod's, which there is none of
	} {
		if err := e.runOne(ctx, program.name, program.ready, program.args); err != nil {
			return err
		}
	}
	return e.lead(ctx, ports[0], ports[1])
}

func (e *env) runOne(ctx context.Context, name, ready string, args []string) error {
	said, err := e.Ask(ctx, "-n", fixture.SystemNamespace, "get", "deployment", name,
		"-o", `jsonpath={range .spec.template.spec.containers[0].args[*]}{@}{"\n"}{end}`)
	if err != nil {
		return err
	}
	kubeconfig, err := e.account(ctx, name)
	if err != nil {
		return err
	}
	all := append(strings.Split(strings.TrimSpace(said.Stdout), "\n"), "--kubeconfig="+kubeconfig)
	p, err := e.Run(ctx, lab.Program{Name: name, Path: e.program(name), Ready: lab.HTTPReady(ready), Args: append(all, args...)})
	if err == nil {
		e.running = append(e.running, p)
	}
	return err
}

// account writes a kubeconfig of the hub for a program's account.
func (e *env) account(ctx context.Context, name string) (file string, err error) {
	token, err := e.Hub().ServiceAccountToken(ctx, fixture.SystemNamespace, name, lifetime)
	if err != nil {
		return "", err
	}
	kubeconfig, err := e.Hub().TokenKubeconfig(token)
	if err != nil {
		return "", err
	}
	file = filepath.Join(e.dir, name+".kubeconfig")
	return file, os.WriteFile(file, kubeconfig, 0o600)
}

// lead has the hub ask at these ports of the machine: endpoints may not be loopback addresses, so Services as they are cannot.
func (e *env) lead(ctx context.Context, adapter, webhook int) error {
	for _, service := range []string{"metrics-adapter", "webhook"} {
		if _, err := e.Ask(ctx, "-n", fixture.SystemNamespace, "delete", "service", service); err != nil {
			return err
		}
		_, err := e.Ask(ctx, "-n", fixture.SystemNamespace, "create", "service", "externalname", service, "--external-name=localhost")
		if err != nil {
			return err
		}
	}
	const at = `{"op": "replace", "path": "%s/service/port", "value": %d}`
	var judged []string
	for i := range 3 {
		judged = append(judged, fmt.Sprintf(at, fmt.Sprintf("/webhooks/%d/clientConfig", i), webhook))
	}
	for kinds, patch := range map[string]string{
		"apiservices": fmt.Sprintf(at, "/spec", adapter),
		"mutatingwebhookconfigurations,validatingwebhookconfigurations": strings.Join(judged, ","),
	} {
		said, err := e.Ask(ctx, "get", kinds, "-l", "app.kubernetes.io/part-of=fleetscale", "-o", "name")
		if err != nil {
			return err
		}
		for object := range strings.FieldsSeq(said.Stdout) {
			if _, err := e.Ask(ctx, "patch", object, "--type=json", "-p", "["+patch+"]"); err != nil {
				return err
			}
		}
	}
	_, err := e.Ask(ctx, "wait", "--for=condition=Available", "--timeout=120s", "apiservice", "-l", "app.kubernetes.io/part-of=fleetscale")
	return err
}

// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// program is one that runs beside the hub, as the lab's hub has nothing that runs Pods.
type program struct {
	name, ready string
	port        int // at which the hub asks it, if it does
	metrics     string
	args        []string // beside those of its Deployment, and which outrank them
}

// programs are all of them, each with ports of its own.
func (e *env) programs() ([]program, error) {
	ports, err := e.FreePorts(6)
	if err != nil {
		return nil, err
	}
	serving := func(port int) []string {
		return []string{"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port)}
	}
	loopback := func(flag string, port int) string { return fmt.Sprintf("--%s-bind-address=127.0.0.1:%d", flag, port) }
	local := []string{"--allow-local-members", "--member-probe-period=2s", "--member-timeout=2s"}
	return []program{
		{name: "metrics-adapter", ready: fmt.Sprintf("https://127.0.0.1:%d/readyz", ports[0]), port: ports[0],
			args: append(append(serving(ports[0]), local...), "--scrape-period=5s", "--max-age=15s")},
		{name: "webhook", ready: fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[2]), port: ports[1],
			args: append(serving(ports[1]), loopback("health-probe", ports[2]), loopback("metrics", ports[3]))},
		{name: "controller-manager", ready: fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[4]),
			metrics: fmt.Sprintf("http://127.0.0.1:%d/metrics", ports[5]),
			args: append(local, "--sync-period=2s", "--cpu-initialization-period=1s", "--initial-readiness-delay=1s",
				loopback("health-probe", ports[4]), loopback("metrics", ports[5]))},
	}, nil
}

// runs has the programs run, and leads the hub to them.
func (e *env) runs(ctx context.Context) error {
	programs, err := e.programs()
	if err != nil {
		return err
	}
	ports := map[string]int{}
	for _, p := range programs {
		running, err := e.runOne(ctx, filepath.Join(e.dir, "bin"), p.name, p)
		if err != nil {
			return err
		}
		e.running, ports[p.name] = append(e.running, running), p.port
	}
	return e.lead(ctx, ports["metrics-adapter"], ports["webhook"])
}

// runOne has a program of a folder run as a process of that name, with the arguments of its Deployment.
func (e *env) runOne(ctx context.Context, bin, process string, p program) (*lab.Process, error) {
	said, err := e.Ask(ctx, "-n", fixture.SystemNamespace, "get", "deployment", p.name,
		"-o", `jsonpath={range .spec.template.spec.containers[0].args[*]}{@}{"\n"}{end}`)
	if err != nil {
		return nil, err
	}
	const pod = "$(POD_IP)" // which a kubelet replaces
	args := strings.ReplaceAll(strings.TrimSpace(said.Stdout), pod, "127.0.0.1")
	if strings.Contains(said.Stdout, "--record-bind-address="+pod) {
		ports, err := e.FreePorts(1)
		if err != nil {
			return nil, err
		}
		args += fmt.Sprintf("\n--record-port=%d", ports[0])
	}
	kubeconfig, err := fixture.WriteKubeconfig(ctx, e.Hub(), p.name, filepath.Join(e.dir, "accounts", p.name))
	if err != nil {
		return nil, err
	}
	all := append(strings.Split(args, "\n"), "--kubeconfig="+kubeconfig)
	return e.Run(ctx, lab.Program{
		Name: process, Path: filepath.Join(bin, p.name), Ready: lab.HTTPReady(p.ready), Args: append(all, p.args...),
	})
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

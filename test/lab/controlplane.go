// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

const (
	frontProxyUser    = "front-proxy-client"
	kubeletClientUser = "kube-apiserver-kubelet-client"
	clientRate        = 1000
	serviceRange      = "10.0.0.0/16"
)

func local(port int, path string) string { return fmt.Sprintf("https://127.0.0.1:%d%s", port, path) }

func (b *bringUp) apiServer(ctx context.Context) error {
	audit, err := b.auditFlags()
	if err != nil {
		return err
	}
	egress, err := b.egressFlags()
	if err != nil {
		return err
	}
	return b.run(ctx, "kube-apiserver", b.URL+"/readyz", slices.Concat(b.apiServerArgs(), audit, egress))
}

func (b *bringUp) apiServerArgs() []string {
	pki := func(file string) string { return filepath.Join(b.pkiDir(), file) }
	args := []string{
		"--etcd-servers=" + b.lab.state.EtcdURL,
		"--etcd-prefix=/" + b.Name,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none", // others refuse to publish a loopback address
		fmt.Sprintf("--secure-port=%d", b.ports.apiServer),
		"--tls-cert-file=" + pki("kube-apiserver.crt"),
		"--tls-private-key-file=" + pki("kube-apiserver.key"),
		"--client-ca-file=" + pki(authorityName+".crt"),
		"--authorization-mode=Node,RBAC",
		"--service-account-issuer=" + serviceAccountIssuer,
		"--service-account-key-file=" + pki(serviceAccountKeyName),
		"--service-account-signing-key-file=" + pki(serviceAccountKeyName),
		"--service-cluster-ip-range=" + serviceRange,
		"--allow-privileged=true",
		// The aggregation layer says to the servers behind it who is asking.
		"--requestheader-client-ca-file=" + pki(authorityName+".crt"),
		"--requestheader-allowed-names=" + frontProxyUser,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + pki(frontProxyUser+".crt"),
		"--proxy-client-key-file=" + pki(frontProxyUser+".key"),
	}
	if !b.plan.workloads {
		// Pods need neither account nor volume where none ever runs.
		args = append(args, "--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection")
	}
	if b.plan.realNodes > 0 {
		args = append(args,
			"--kubelet-client-certificate="+pki(kubeletClientUser+".crt"),
			"--kubelet-client-key="+pki(kubeletClientUser+".key"),
			"--kubelet-preferred-address-types=InternalIP", // others are not resolved here
		)
	}
	return args
}

func (b *bringUp) controllerManager(ctx context.Context) error {
	identity, err := b.identity("system:kube-controller-manager")
	if err != nil {
		return err
	}
	controllers := "*"
	if !b.plan.workloads {
		controllers = strings.Join(templateControllers(), ",")
	}
	args := append(identity,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", b.ports.controllerManager),
		"--leader-elect=false",
		"--controllers="+controllers,
		"--use-service-account-credentials=true", // so that rights and names are those of a real cluster
		"--service-account-private-key-file="+filepath.Join(b.pkiDir(), serviceAccountKeyName),
		"--root-ca-file="+filepath.Join(b.pkiDir(), authorityName+".crt"),
		// A stopped API server must not turn all nodes NotReady, and their pods
		// with them, in the moment in which it is back.
		"--node-monitor-grace-period=1h",
		fmt.Sprintf("--kube-api-qps=%d", clientRate),
		fmt.Sprintf("--kube-api-burst=%d", clientRate),
	)
	args = append(args, b.plan.controllerManagerArgs...)
	return b.run(ctx, "kube-controller-manager", local(b.ports.controllerManager, "/healthz"), args)
}

// templateControllers returns those that a hub without pods needs.
func templateControllers() []string {
	return []string{
		"namespace-controller",
		"garbage-collector-controller",
		"serviceaccount-controller",
		"serviceaccount-token-controller",
		"root-ca-certificate-publisher-controller",
		"ttl-after-finished-controller",
		"clusterrole-aggregation-controller",
		"resourcequota-controller",
	}
}

func (b *bringUp) scheduler(ctx context.Context) error {
	identity, err := b.identity("system:kube-scheduler")
	if err != nil {
		return err
	}
	args := append(identity,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", b.ports.scheduler),
		"--leader-elect=false",
		fmt.Sprintf("--kube-api-qps=%d", clientRate),
		fmt.Sprintf("--kube-api-burst=%d", clientRate),
	)
	return b.run(ctx, "kube-scheduler", local(b.ports.scheduler, "/healthz"), args)
}

// identity makes the kubeconfig of a program and returns the flags that name
// it: for its own work, and for asking who its callers are.
func (b *bringUp) identity(user string, groups ...string) ([]string, error) {
	path, err := b.programKubeconfig(user, groups...)
	if err != nil {
		return nil, err
	}
	return append(delegationFlags(path), "--kubeconfig="+path), nil
}

func delegationFlags(kubeconfig string) []string {
	return []string{"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig}
}

func (b *bringUp) programKubeconfig(user string, groups ...string) (path string, err error) {
	path = filepath.Join(b.dir(), strings.ReplaceAll(user, ":", "-")+".kubeconfig")
	return path, b.writeKubeconfig(path, user, groups...)
}

// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fleetscale/fleetscale/test/lab/internal/build"
)

const (
	karmadaSystem = "karmada-system"
	// karmadaClusters has the credentials by which Karmada reaches clusters.
	karmadaClusters = "karmada-cluster"
	karmadaServer   = "aggregated-apiserver"
	karmadaWebhook  = "karmada-webhook"
	// karmadaControllers are those of the manifests that Karmada is installed by.
	karmadaControllers = "*,hpaScaleTargetMarker,deploymentReplicasSyncer"
	karmadaGates       = "--feature-gates=AllAlpha=true,AllBeta=true"
)

// Karmada makes the hub a Karmada control plane, with Karmada's own programs, that every member joins.
type Karmada struct {
	// ControllerManagerArgs are added to those of karmada-controller-manager, such as --controllers=-federatedHorizontalPodAutoscaler.
	ControllerManagerArgs []string
}

// karmada is the control plane of a lab: how its programs are found and reached.
type karmada struct {
	Programs    string // folder
	Files       string // folder of Karmada's own
	WebhookPort int
}

// BuildKarmada is Build for Karmada's programs, which only labs with Karmada need: another six minutes.
func BuildKarmada(ctx context.Context, log io.Writer) (dir string, err error) {
	if log == nil {
		log = io.Discard
	}
	return build.Programs(ctx, build.Karmada(), log)
}

// BuildKarmadaTests is Build for Karmada's own end-to-end tests, base.test, and for karmadactl, which they run.
func BuildKarmadaTests(ctx context.Context, log io.Writer) (dir string, err error) {
	if log == nil {
		log = io.Discard
	}
	return build.Programs(ctx, build.KarmadaTests(), log)
}

// KarmadaIsBuilt reports whether BuildKarmada has nothing to do.
func KarmadaIsBuilt() bool { return build.Built(build.Karmada()) }

// startKarmada makes the hub a control plane that all members have joined.
func (l *Lab) startKarmada(ctx context.Context, o Options) error {
	begin := time.Now()
	k := &karmada{}
	var err error
	if k.Programs, err = BuildKarmada(ctx, o.Log); err != nil {
		return err
	}
	if k.Files, err = build.KarmadaFiles(ctx); err != nil {
		return err
	}
	ports, err := l.FreePorts(1)
	if err != nil {
		return err
	}
	k.WebhookPort = ports[0]
	l.state.Karmada = k
	if err := l.Hub().apply(ctx, namespaceCalled(karmadaSystem), namespaceCalled(karmadaClusters)); err != nil {
		return err
	}
	if err := l.installKarmadaKinds(ctx); err != nil {
		return err
	}
	if err := l.letProxy(ctx); err != nil {
		return err
	}
	if err := l.startKarmadaPrograms(ctx, o.Karmada.ControllerManagerArgs); err != nil {
		return err
	}
	fmt.Fprintf(o.Log, "Karmada: ready (%v)\n", since(begin))
	if err := l.joinKarmada(ctx, o.Members); err != nil {
		return err
	}
	fmt.Fprintf(o.Log, "Karmada: all members have joined (%v)\n", since(begin))
	return nil
}

func namespaceCalled(name string) string {
	return "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + name + "}\n"
}

// startKarmadaPrograms starts those of the control plane, in the order in which they need each other.
func (l *Lab) startKarmadaPrograms(ctx context.Context, controllerManagerArgs []string) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.startKarmadaServer(groupCtx) })
	group.Go(func() error {
		if err := l.startKarmadaWebhook(groupCtx); err != nil {
			return err
		}
		return l.installKarmadaWebhooks(groupCtx)
	})
	if err := group.Wait(); err != nil {
		return err
	}
	group, groupCtx = errgroup.WithContext(ctx)
	group.Go(func() error {
		args := append([]string{"--controllers=" + karmadaControllers}, controllerManagerArgs...)
		_, err := l.StartKarmadaControllers(groupCtx, "karmada-controller-manager", args...)
		return err
	})
	group.Go(func() error { return l.startKarmadaScheduler(groupCtx) })
	return group.Wait()
}

// startKarmadaServer starts the server of Clusters, which are not a kind of the hub's API server.
func (l *Lab) startKarmadaServer(ctx context.Context) error {
	const service = "karmada-aggregated-apiserver"
	hub := l.Hub()
	ports, err := l.FreePorts(1)
	if err != nil {
		return err
	}
	kubeconfig, err := l.karmadaKubeconfig(service)
	if err != nil {
		return err
	}
	b := &bringUp{Cluster: hub}
	serving, err := b.servingFlags(service, service+"."+karmadaSystem+".svc", "localhost", "127.0.0.1")
	if err != nil {
		return err
	}
	_, err = l.Run(ctx, Program{
		Name: service, Path: l.karmadaProgram(karmadaServer), Ready: HTTPReady(local(ports[0], "/readyz")),
		Args: append(append(delegationFlags(kubeconfig), serving...),
			"--kubeconfig="+kubeconfig,
			"--etcd-servers="+l.state.EtcdURL,
			"--etcd-prefix=/karmada",
			"--bind-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", ports[0]),
		),
	})
	if err != nil {
		return err
	}
	ca, err := hub.CA()
	if err != nil {
		return err
	}
	return hub.RegisterAPI(ctx, API{
		Group: "cluster.karmada.io", Version: "v1alpha1", Namespace: karmadaSystem, Service: service, Port: ports[0], CABundle: ca,
	})
}

func (l *Lab) startKarmadaWebhook(ctx context.Context) error {
	hub := l.Hub()
	kubeconfig, err := l.karmadaKubeconfig(karmadaWebhook)
	if err != nil {
		return err
	}
	pair, err := hub.ServingCertificate(karmadaWebhook+"."+karmadaSystem+".svc", "localhost", "127.0.0.1")
	if err != nil {
		return err
	}
	certFile, keyFile, err := pair.Write(hub.pkiDir(), karmadaWebhook)
	if err != nil {
		return err
	}
	return l.runKarmada(ctx, karmadaWebhook, "webhook", local(l.state.Karmada.WebhookPort, "/readyz"),
		"--kubeconfig="+kubeconfig,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", l.state.Karmada.WebhookPort),
		"--cert-dir="+hub.pkiDir(),
		"--tls-cert-file-name="+filepath.Base(certFile),
		"--tls-private-key-file-name="+filepath.Base(keyFile),
		"--health-probe-bind-address=0",
		"--metrics-bind-address=0",
		"--allow-no-execute-taint-policy=true",
		karmadaGates,
	)
}

func (l *Lab) startKarmadaScheduler(ctx context.Context) error {
	const name = "karmada-scheduler"
	kubeconfig, err := l.karmadaKubeconfig(name)
	if err != nil {
		return err
	}
	ports, err := l.FreePorts(1)
	if err != nil {
		return err
	}
	address := fmt.Sprintf("127.0.0.1:%d", ports[0])
	return l.runKarmada(ctx, name, "scheduler", "http://"+address+"/healthz",
		"--kubeconfig="+kubeconfig,
		"--leader-elect=false",
		"--health-probe-bind-address="+address,
		"--metrics-bind-address=0",
		karmadaGates,
	)
}

// StartKarmadaControllers starts a karmada-controller-manager, with arguments such as --controllers=federatedHorizontalPodAutoscaler,
// and returns when it says that it is well. It does not wait for others of its kind. The name is that of its process.
func (l *Lab) StartKarmadaControllers(ctx context.Context, name string, args ...string) (*Process, error) {
	kubeconfig, err := l.karmadaKubeconfig(name)
	if err != nil {
		return nil, err
	}
	ports, err := l.FreePorts(1)
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", ports[0])
	return l.Run(ctx, Program{
		Name: name, Path: l.karmadaProgram("controller-manager"), Ready: HTTPReady("http://" + address + "/healthz"),
		Args: append([]string{
			"--kubeconfig=" + kubeconfig,
			"--leader-elect=false",
			"--health-probe-bind-address=" + address,
			"--metrics-bind-address=0",
			"--cluster-status-update-frequency=10s",
			"--enable-no-execute-taint-eviction=true",
			karmadaGates,
		}, args...),
	})
}

func (l *Lab) runKarmada(ctx context.Context, name, program, ready string, args ...string) error {
	_, err := l.Run(ctx, Program{Name: name, Path: l.karmadaProgram(program), Ready: HTTPReady(ready), Args: args})
	return err
}

func (l *Lab) karmadaProgram(name string) string {
	return filepath.Join(l.state.Karmada.Programs, name)
}

// karmadaKubeconfig has the rights that Karmada's installers give to its programs: all.
func (l *Lab) karmadaKubeconfig(name string) (string, error) {
	path := filepath.Join(l.Hub().dir(), strings.ReplaceAll(name, ":", "-")+".kubeconfig")
	return path, l.Hub().writeKubeconfig(path, name, admins)
}

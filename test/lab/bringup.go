// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
)

// plan is one cluster to bring up.
type plan struct {
	name                  string
	workloads             bool
	nodes                 int // played ones
	realNodes             int
	metricsServer         bool
	testAdapter           bool
	controllerManagerArgs []string
	recorded              []string // groups of users
}

func (h Hub) plan() plan {
	p := plan{
		name:                  hubName,
		workloads:             h.Workloads,
		realNodes:             h.RealNodes,
		metricsServer:         h.Workloads,
		controllerManagerArgs: h.ControllerManagerArgs,
		recorded:              h.Recorded,
	}
	return p.withDefaults()
}

func (m Member) plan() plan {
	p := plan{
		name:                  m.Name,
		workloads:             true,
		nodes:                 m.Nodes,
		realNodes:             m.RealNodes,
		metricsServer:         !m.WithoutMetricsServer,
		testAdapter:           !m.WithoutTestAdapter,
		controllerManagerArgs: m.ControllerManagerArgs,
		recorded:              m.Recorded,
	}
	return p.withDefaults()
}

func (p plan) withDefaults() plan {
	if p.nodes == 0 && p.realNodes == 0 {
		p.nodes = defaultNodes
	}
	return p
}

func clusterPrograms() []string {
	return []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "metrics-server", "test-adapter"}
}

// bringUp starts a cluster and returns when all of it answers.
func (l *Lab) bringUp(ctx context.Context, p plan, log io.Writer) (*Cluster, error) {
	begin := time.Now()
	nodePrograms, err := p.nodePrograms(ctx, log)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	b, err := l.newBringUp(p)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	b.nodePrograms = nodePrograms
	if err := b.apiServer(ctx); err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	fmt.Fprintf(log, "%s: API server answers at %s (%v)\n", p.name, b.URL, since(begin))
	if err := b.everythingElse(ctx); err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	fmt.Fprintf(log, "%s: ready (%v)\n", p.name, since(begin))
	return b.Cluster, nil
}

func since(begin time.Time) time.Duration { return time.Since(begin).Round(100 * time.Millisecond) }

// bringUp is a cluster on its way, and the ports that its programs get.
type bringUp struct {
	*Cluster
	plan         plan
	ports        clusterPorts
	nodePrograms string // folder; empty without real nodes
}

type clusterPorts struct {
	apiServer, controllerManager, scheduler, kwok, metricsServer, testAdapter, values int
}

func (l *Lab) newBringUp(p plan) (*bringUp, error) {
	free, err := l.FreePorts(7)
	if err != nil {
		return nil, err
	}
	ports := clusterPorts{free[0], free[1], free[2], free[3], free[4], free[5], free[6]}
	dir := filepath.Join(l.dir, "clusters", p.name)
	c := &Cluster{
		Name:       p.name,
		URL:        fmt.Sprintf("https://127.0.0.1:%d", ports.apiServer),
		Kubeconfig: filepath.Join(dir, "kubeconfig"),
		lab:        l,
	}
	if p.metricsServer {
		c.MetricsServerURL = fmt.Sprintf("https://127.0.0.1:%d", ports.metricsServer)
	}
	if p.testAdapter {
		c.TestAdapterURL = fmt.Sprintf("https://127.0.0.1:%d", ports.testAdapter)
		c.ValuesURL = fmt.Sprintf("http://127.0.0.1:%d", ports.values)
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return nil, fmt.Errorf("creating its folder: %w", err)
	}
	return &bringUp{Cluster: c, plan: p, ports: ports}, c.createCredentials()
}

// everythingElse starts what needs an API server, side by side.
func (b *bringUp) everythingElse(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return b.controllerManager(ctx) })
	if b.plan.workloads {
		group.Go(func() error { return b.scheduler(ctx) })
		group.Go(func() error { return b.nodesAndTheirMetrics(ctx) })
	}
	if b.plan.testAdapter {
		group.Go(func() error { return b.testAdapter(ctx) })
	}
	return group.Wait()
}

func (b *bringUp) nodesAndTheirMetrics(ctx context.Context) error {
	nodes, nodesCtx := errgroup.WithContext(ctx)
	if b.plan.nodes > 0 {
		nodes.Go(func() error { return b.fakeNodes(nodesCtx) })
	}
	for _, name := range b.realNodeNames() {
		nodes.Go(func() error { return b.realNode(nodesCtx, name) })
	}
	if err := nodes.Wait(); err != nil || !b.plan.metricsServer {
		return err
	}
	return b.metricsServer(ctx)
}

// run starts one of the cluster's programs and waits until url answers 200.
func (b *bringUp) run(ctx context.Context, program, url string, args []string) error {
	_, err := b.lab.Run(ctx, Program{
		Name:  b.processName(program),
		Path:  b.lab.program(program),
		Args:  args,
		Ready: HTTPReady(url),
	})
	return err
}

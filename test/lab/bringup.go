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
	images                []string // of these
	metricsServer         bool
	testAdapter           bool
	controllerManagerArgs []string
	recorded              []string // groups of users
	recordedWrites        []string // the same
	kubernetes            string   // minor version; empty: the lab's own
}

func (h Hub) plan() plan {
	p := plan{
		name:                  hubName,
		workloads:             h.Workloads,
		realNodes:             h.RealNodes,
		images:                h.Images,
		metricsServer:         h.Workloads && !h.WithoutMetricsServer,
		controllerManagerArgs: h.ControllerManagerArgs,
		recorded:              h.Recorded,
		recordedWrites:        h.RecordedWrites,
		kubernetes:            h.Kubernetes,
	}
	return p.withDefaults()
}

func (m Member) plan() plan {
	p := plan{
		name:                  m.Name,
		workloads:             true,
		nodes:                 m.Nodes,
		realNodes:             m.RealNodes,
		images:                m.Images,
		metricsServer:         !m.WithoutMetricsServer,
		testAdapter:           !m.WithoutTestAdapter,
		controllerManagerArgs: m.ControllerManagerArgs,
		recorded:              m.Recorded,
		recordedWrites:        m.RecordedWrites,
		kubernetes:            m.Kubernetes,
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
	return []string{
		"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kwok", "metrics-server", networkName, "test-adapter",
	}
}

// bringUp starts clusters and returns when all of them answer.
func (l *Lab) bringUp(ctx context.Context, log io.Writer, plans ...plan) ([]*Cluster, error) {
	begun := make([]*bringUp, len(plans))
	for i, p := range plans {
		var err error
		if begun[i], err = l.newBringUp(p); err != nil {
			return nil, fmt.Errorf("starting %s: %w", p.name, err)
		}
	}
	reached := l.apiServerPorts()
	for _, b := range begun {
		reached = append(reached, b.ports.apiServer, b.ports.metricsServer)
	}
	clusters := make([]*Cluster, len(plans))
	group, ctx := errgroup.WithContext(ctx)
	for i, b := range begun {
		b.reached, clusters[i] = reached, b.Cluster
		group.Go(func() error {
			if err := b.start(ctx, log); err != nil {
				return fmt.Errorf("starting %s: %w", b.Name, err)
			}
			return nil
		})
	}
	return clusters, group.Wait()
}

func (b *bringUp) start(ctx context.Context, log io.Writer) (err error) {
	begin := time.Now()
	if b.nodePrograms, err = b.plan.nodePrograms(ctx, log); err != nil {
		return err
	}
	if err := b.apiServer(ctx); err != nil {
		return err
	}
	fmt.Fprintf(log, "%s: API server answers at %s (%v)\n", b.Name, b.URL, since(begin))
	if err := b.everythingElse(ctx); err != nil {
		return err
	}
	fmt.Fprintf(log, "%s: ready (%v)\n", b.Name, since(begin))
	return nil
}

func since(begin time.Time) time.Duration { return time.Since(begin).Round(100 * time.Millisecond) }

// bringUp is a cluster on its way, and the ports that its programs get.
type bringUp struct {
	*Cluster
	plan         plan
	ports        clusterPorts
	nodePrograms string // folder; empty without real nodes
	reached      []int  // ports of the API servers and metrics-servers that Pods of real nodes reach
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
	if b.plan.realNodes > 0 {
		nodes.Go(func() error { return b.realNodes(nodesCtx) })
	}
	if err := nodes.Wait(); err != nil || !b.plan.metricsServer {
		return err
	}
	return b.metricsServer(ctx)
}

// run starts one of the cluster's programs and waits until url answers 200.
func (b *bringUp) run(ctx context.Context, program, url string, args []string) error {
	path, err := b.program(ctx, program)
	if err != nil {
		return err
	}
	_, err = b.lab.Run(ctx, Program{
		Name:  b.processName(program),
		Path:  path,
		Args:  args,
		Ready: HTTPReady(url),
	})
	return err
}

// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/sim"
)

// scaled is the namespace of the workloads that are scaled.
const scaled = "scaled"

const federatedHPA = `
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: %[1]s, namespace: ` + scaled + `}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %[1]s}
  minReplicas: 1
  maxReplicas: 1000
  metrics:
  - type: Resource
    resource: {name: %[2]s, target: {type: Utilization, averageUtilization: 70}}
  behavior: {scaleDown: {stabilizationWindowSeconds: 0}}
  replicaDistribution: {}
`

// scalers are two controller-managers with FederatedHPAs whose workloads use
// just what they should, in every member.
type scalers struct {
	scene    *scene
	replicas []*fixture.Controllers
	// profiles are where they are served.
	profiles []string
	// deaths counts how often one ended by itself, and was started again.
	deaths int
	// since is when replicas were last what the load justifies.
	since     time.Time
	justified map[string]int
}

func newScalers(ctx context.Context, s *scene) (*scalers, error) {
	st, c := s.stage, &scalers{scene: s, justified: map[string]int{}, since: time.Now()}
	program, err := fixture.Build(ctx, "controller-manager", st.Dir(), s.log)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(st.InstallKinds(ctx, st.Hub()), st.InstallControllers(ctx, st.Hub())); err != nil {
		return nil, err
	}
	manifests := "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + scaled + "}\n"
	for i := range s.plan.Scalers {
		name := fmt.Sprintf("auto-%d", i+1)
		manifests += fmt.Sprintf(federatedHPA, name, []string{"cpu", "memory"}[i%2])
		if err := c.run(name); err != nil {
			return c, err
		}
	}
	if _, err := st.Feed(ctx, manifests, "--context", st.Hub().Name, "apply", "-f", "-"); err != nil {
		return c, err
	}
	for range 2 {
		if err := c.start(ctx, program); err != nil {
			return c, err
		}
	}
	return c, nil
}

// start adds a controller-manager.
func (c *scalers) start(ctx context.Context, program string) error {
	st := c.scene.stage
	ports, err := st.FreePorts(1)
	if err != nil {
		return err
	}
	profiles := fmt.Sprintf("127.0.0.1:%d", ports[0])
	name := fmt.Sprintf("faults-controllers-%d", ports[0])
	replica, err := st.StartControllers(ctx, st.Hub(), program, name, append(c.scene.plan.Lease, "--profiling-bind-address="+profiles)...)
	if err != nil {
		return err
	}
	c.replicas, c.profiles = append(c.replicas, replica), append(c.profiles, "http://"+profiles)
	return nil
}

// eachMember is how many replicas of a workload a member has.
const eachMember = 2

// usage by which the present replicas are just right: 70 % of the requests.
func justRight() sim.Resources {
	return sim.Resources{CPU: resource.MustParse("70m"), Memory: resource.MustParse("70Mi")}
}

// run has a workload of that name in each member.
func (c *scalers) run(name string) error {
	request := sim.Resources{CPU: resource.MustParse("100m"), Memory: resource.MustParse("100Mi")}
	for _, m := range c.scene.fleet.Members() {
		if err := m.Run(sim.Workload{Namespace: scaled, Name: name, Replicas: eachMember, Request: request, Usage: justRight()}); err != nil {
			return err
		}
		c.justified[name] += eachMember
	}
	return nil
}

// writes returns those of all members since a time, in order.
func (c *scalers) writes(since time.Time) []sim.ScaleWrite {
	var some []sim.ScaleWrite
	for _, m := range c.scene.fleet.Members() {
		for _, w := range m.ScaleWrites() {
			if !w.At.Before(since) {
				some = append(some, w)
			}
		}
	}
	slices.SortFunc(some, func(a, b sim.ScaleWrite) int { return a.At.Compare(b.At) })
	return some
}

// wrong are the writes since a time which left less than the load justifies.
func (c *scalers) wrong(since time.Time) []sim.ScaleWrite {
	var some []sim.ScaleWrite
	for _, w := range tooLow(c.justified, c.writes(c.since)) {
		if !w.At.Before(since) {
			some = append(some, w)
		}
	}
	return some
}

// tooLow are the writes that lowered replicas of a workload, over all members,
// below what is justified.
func tooLow(justified map[string]int, writes []sim.ScaleWrite) []sim.ScaleWrite {
	total := map[string]int{}
	var low []sim.ScaleWrite
	for _, w := range writes {
		total[w.Name] += w.To - w.From
		if w.To < w.From && total[w.Name] < 0 {
			low = append(low, w)
		}
	}
	return slices.DeleteFunc(low, func(w sim.ScaleWrite) bool { _, ours := justified[w.Name]; return !ours })
}

// plant lowers replicas for no reason, and returns an error unless that is seen as wrong.
func (c *scalers) plant(ctx context.Context) error {
	const name = "auto-1"
	begin, m := time.Now(), c.scene.fleet.Members()[0]
	client, err := kubernetes.NewForConfig(m.RESTConfig())
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", m.Name(), err)
	}
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: scaled, Name: name},
		Spec: autoscalingv1.ScaleSpec{Replicas: eachMember - 1}}
	if _, err := client.AppsV1().Deployments(scaled).UpdateScale(ctx, name, scale, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("planting a scale-in: %w", err)
	}
	seen := len(c.wrong(begin))
	if err := m.Scale(sim.Deployment, scaled, name, eachMember); err != nil {
		return err
	}
	c.since = time.Now()
	if seen != 1 {
		return fmt.Errorf("planting a scale-in: %d were counted", seen)
	}
	return nil
}

// revive starts again what ended by itself, as a kubelet does.
func (c *scalers) revive(ctx context.Context) error {
	for _, r := range c.replicas {
		state, _, err := r.State()
		if err != nil {
			return err
		}
		if state != "died" {
			continue
		}
		c.deaths++
		if err := r.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}

const reconciliations = "fleetscale_horizontal_pod_autoscaler_controller_reconciliations_total"

// decisions returns how many one has made so far; one that does not lead makes none.
func decisions(ctx context.Context, r *fixture.Controllers) (float64, error) {
	return total(ctx, r.Metrics(), reconciliations)
}

// total adds up all series of a metric.
func total(ctx context.Context, url, metric string) (sum float64, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", metric, err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		rest, found := strings.CutPrefix(lines.Text(), metric)
		if !found || rest == "" || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		value, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			return 0, fmt.Errorf("reading %s: %w", metric, err)
		}
		sum += value
	}
	return sum, lines.Err()
}

// killLeader returns how long nobody decides.
func (c *scalers) killLeader(ctx context.Context) (time.Duration, error) {
	leader, other, err := c.leader(ctx)
	if err != nil {
		return 0, err
	}
	before, err := decisions(ctx, other)
	if err != nil {
		return 0, err
	}
	if err := leader.Kill(); err != nil {
		return 0, err
	}
	killed := time.Now()
	err = fixture.Await(ctx, 2*time.Minute, func(ctx context.Context) error {
		now, err := decisions(ctx, other)
		if err == nil && now == before {
			err = errors.New("nobody decides since the leader was killed")
		}
		return err
	})
	return time.Since(killed), errors.Join(err, leader.Start(ctx))
}

// leader returns who leads, and who does not.
func (c *scalers) leader(ctx context.Context) (leader, other *fixture.Controllers, err error) {
	for i, r := range c.replicas {
		leads, err := total(ctx, r.Metrics(), "leader_election_master_status")
		if err != nil {
			return nil, nil, err
		}
		if leads == 1 {
			return r, c.replicas[1-i], nil
		}
	}
	return nil, nil, errors.New("finding the leader: there is none")
}

// drop lets the load go to a third, and returns when all workloads were scaled
// in, and how many were in time.
func (c *scalers) drop(ctx context.Context) (took time.Duration, lowered int, err error) {
	begin := time.Now()
	for name := range c.justified {
		for _, m := range c.scene.fleet.Members() {
			if err := m.SetUsage(sim.Deployment, scaled, name,
				sim.Resources{CPU: resource.MustParse("20m"), Memory: resource.MustParse("20Mi")}); err != nil {
				return 0, 0, err
			}
		}
	}
	const poll, atMost = 200 * time.Millisecond, 2 * time.Minute
	for time.Since(begin) < atMost {
		names := map[string]bool{}
		for _, w := range c.wrong(begin) {
			names[w.Name] = true
		}
		if lowered = len(names); lowered == len(c.justified) {
			break
		}
		if err := measure.Pass(ctx, poll); err != nil {
			return 0, 0, err
		}
	}
	return time.Since(begin), lowered, nil
}

func (c *scalers) close(ctx context.Context) (err error) {
	for _, r := range c.replicas {
		err = errors.Join(err, r.Stop())
	}
	st := c.scene.stage
	_, deleted := st.Ask(ctx, "--context", st.Hub().Name, "-n", scaled, "delete", "federatedhpas.autoscaling.karmada.io", "--all")
	return errors.Join(err, deleted)
}

// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// questions are asked through the hub all the time, as autoscalers and people do, until stop is called.
type questions struct {
	asked   map[string]int
	faults  []string
	mu      sync.Mutex
	cancel  context.CancelFunc
	running sync.WaitGroup
}

const (
	askInterval = 200 * time.Millisecond
	askTimeout  = 10 * time.Second
)

func (s *stage) ask(t *testing.T) *questions {
	t.Helper()
	client, err := s.Hub().Client()
	if err != nil {
		t.Fatal(err)
	}
	hub := client.CoreV1().RESTClient()
	ctx, cancel := context.WithCancel(t.Context())
	q := &questions{asked: map[string]int{}, cancel: cancel}
	for what, question := range map[string]question{
		"metrics": {"worker-", func() *rest.Request {
			return hub.Get().AbsPath("/apis/metrics.k8s.io/v1beta1/namespaces", shop, "pods")
		}},
		"members": {member, func() *rest.Request { return hub.Get().AbsPath("/apis/members.fleetscale.io/v1alpha1/members") }},
		"webhook": {"worker", func() *rest.Request {
			return hub.Patch(types.ApplyYAMLPatchType).Param("dryRun", "All").Param("fieldManager", "asks").
				AbsPath("/apis/autoscaling.karmada.io/v1alpha1/namespaces", "default", "federatedhpas/worker").
				Body([]byte(strings.Replace(fmt.Sprintf(autoscaler, "worker"), "namespace: shop", "namespace: default", 1)))
		}},
	} {
		q.running.Go(func() { q.repeat(ctx, what, question) })
	}
	t.Cleanup(func() { q.stop() })
	return q
}

// question is a request, and what its answer contains.
type question struct {
	want    string
	request func() *rest.Request
}

func (q *questions) repeat(ctx context.Context, what string, question question) {
	tick := time.NewTicker(askInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		one, cancel := context.WithTimeout(ctx, askTimeout)
		answer, err := question.request().Do(one).Raw()
		cancel()
		if err == nil && !bytes.Contains(answer, []byte(question.want)) {
			err = fmt.Errorf("there is no %q in %s", question.want, answer)
		}
		if ctx.Err() != nil {
			return
		}
		q.mu.Lock()
		q.asked[what]++
		if err != nil {
			q.faults = append(q.faults, what+": "+err.Error())
		}
		q.mu.Unlock()
	}
}

func (q *questions) stop() {
	q.cancel()
	q.running.Wait()
}

// answered checks that each question was asked, and answered each time.
func (q *questions) answered(t *testing.T) {
	t.Helper()
	q.stop()
	t.Logf("asked: %v", q.asked)
	for _, what := range []string{"metrics", "members", "webhook"} {
		if q.asked[what] == 0 {
			t.Errorf("nobody asked the %s", what)
		}
	}
	if len(q.faults) > 0 {
		t.Errorf("%d questions failed: %s", len(q.faults), strings.Join(q.faults, "\n"))
	}
}

// testRollouts replaces the replicas of each program while others ask.
func (s *stage) testRollouts(t *testing.T) {
	for _, program := range programs() {
		t.Run(program, func(t *testing.T) {
			q := s.ask(t)
			s.kubectl(t, "-n", system, "rollout", "restart", "deployment/"+program)
			s.kubectl(t, append([]string{"rollout", "status", "--timeout=" + patience.String()}, deployment(program)...)...)
			q.answered(t)
		})
	}
}

// testDrain empties one of two nodes, which the budgets of the programs have to allow, one replica at a time.
func (s *stage) testDrain(t *testing.T) {
	var nodes corev1.NodeList
	s.read(t, &nodes, "get", "nodes")
	node := nodes.Items[0].Name
	q := s.ask(t)
	s.kubectl(t, "drain", node, "--timeout="+patience.String())
	for _, program := range programs() {
		s.kubectl(t, append([]string{"rollout", "status", "--timeout=" + patience.String()}, deployment(program)...)...)
	}
	q.answered(t)
	var pods corev1.PodList
	s.read(t, &pods, "-n", system, "get", "pods")
	for _, p := range pods.Items {
		if p.Spec.NodeName == node {
			t.Errorf("Pod %s is still on the node that was drained", p.Name)
		}
	}
	s.kubectl(t, "uncordon", node)
}

// testOOMKill gives new replicas of a program less memory than it starts with. They are killed, again and again, and the others go on.
func (s *stage) testOOMKill(t *testing.T) {
	const program = "webhook"
	q := s.ask(t)
	s.kubectl(t, append([]string{"set", "resources", "--requests=memory=8Mi", "--limits=memory=8Mi"}, deployment(program)...)...)
	s.await(t, func(said string) error {
		var pods corev1.PodList
		if err := json.Unmarshal([]byte(said), &pods); err != nil {
			return err
		}
		for _, p := range pods.Items {
			for _, c := range p.Status.ContainerStatuses {
				if last := c.LastTerminationState.Terminated; last != nil && last.ExitCode == 137 && c.RestartCount > 1 {
					return nil
				}
			}
		}
		return fmt.Errorf("no container of %s was killed twice", program)
	}, "-n", system, "get", "pods", "-l", "app.kubernetes.io/name="+program, "-o", "json")
	s.kubectl(t, append([]string{"rollout", "undo"}, deployment(program)...)...)
	s.kubectl(t, append([]string{"rollout", "status", "--timeout=" + patience.String()}, deployment(program)...)...)
	q.answered(t)
}

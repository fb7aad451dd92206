// SPDX-License-Identifier: Apache-2.0

package install

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/test/lab"
)

// works checks what is installed, has a member join and an autoscaler scale there, continues with what is given, and takes both away.
func (s *stage) works(t *testing.T, then func()) {
	t.Helper()
	t.Run("Pods are ready", s.testReady)
	t.Run("the hub's APIs are served", s.testServed)
	if !t.Run("a member joins, and a workload there is scaled", s.testScaled) {
		t.FailNow()
	}
	then()
	s.kubectl(t, "-n", shop, "delete", "federatedhpa", "worker")
	s.kubectl(t, "fleetscale", "leave", member, "--context", member, "--yes")
	s.kubectl(t, "--context", member, "-n", shop, "delete", "deployment", "worker", "--cascade=foreground")
}

func deployment(name string) []string { return []string{"-n", system, "deployment/" + name} }

// testReady awaits the replicas of all programs. Probes and the admission of Pods have let them be, and nothing was restarted.
func (s *stage) testReady(t *testing.T) {
	for _, program := range programs() {
		s.kubectl(t, append([]string{"rollout", "status", "--timeout=" + patience.String()}, deployment(program)...)...)
	}
	if enforced := s.kubectl(t, "get", "namespace", system, "-o",
		`jsonpath={.metadata.labels.pod-security\.kubernetes\.io/enforce}`); enforced != "restricted" {
		t.Errorf("Pods are admitted as %q, want restricted", enforced)
	}
	var pods corev1.PodList
	s.read(t, &pods, "-n", system, "get", "pods")
	for _, p := range pods.Items {
		for _, c := range p.Status.ContainerStatuses {
			if !c.Ready || c.RestartCount != 0 || !strings.HasSuffix(c.Image, ":"+s.tag) {
				t.Errorf("Pod %s of image %s: ready %v, %d restarts; want image %s, ready, and none",
					p.Name, c.Image, c.Ready, c.RestartCount, s.tag)
			}
		}
	}
	if got, want := len(pods.Items), 2*len(programs()); got != want {
		t.Errorf("there are %d Pods, want %d", got, want)
	}
}

// read is kubectl, decoded.
func (s *stage) read(t *testing.T, into any, args ...string) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.kubectl(t, append(args, "-o", "json")...)), into); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) testServed(t *testing.T) {
	for _, name := range []string{"v1.metrics.k8s.io", "v1beta1.metrics.k8s.io",
		"v1beta1.custom.metrics.k8s.io", "v1beta2.custom.metrics.k8s.io",
		"v1beta1.external.metrics.k8s.io", "v1alpha1.members.fleetscale.io"} {
		s.kubectl(t, "wait", "--for=condition=Available", "--timeout="+patience.String(), "apiservice/"+name)
	}
}

// worker burns twice what its autoscaler wants of each replica, however many there are.
const worker = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: worker, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: worker}}
  template:
    metadata: {labels: {app: worker}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: app
        image: ` + lab.BurnImage + `
        args: [--cpu=80]
        resources: {requests: {cpu: 50m, memory: 16Mi}}
`

// autoscaler is one of the worker, which only the member has.
const autoscaler = `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: %s, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: worker}
  minReplicas: 1
  maxReplicas: 3
  metrics:
  - type: Resource
    resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}
`

func (s *stage) testScaled(t *testing.T) {
	s.feed(t, worker, "--context", member, "apply", "-f", "-")
	s.kubectl(t, "fleetscale", "join", member, "--context", member, "--server", s.member.InsideURL())
	s.await(t, contains("worker-"), "top", "pods", "-n", shop)
	s.await(t, contains("worker-", member), "get", "podmetrics", "-n", shop)

	s.feed(t, fmt.Sprintf(autoscaler, "worker"), "apply", "-f", "-")
	const refusal = `Deployment "worker" is scaled by FederatedHPA "worker" already`
	_, err := s.try(t.Context(), fmt.Sprintf(autoscaler, "another"), "apply", "-f", "-")
	if err == nil || !strings.Contains(err.Error(), refusal) {
		t.Errorf("a second autoscaler of the worker: error = %v, want %s", err, refusal)
	}
	s.await(t, func(said string) error {
		var d appsv1.Deployment
		if err := json.Unmarshal([]byte(said), &d); err != nil {
			return err
		}
		if d.Status.ReadyReplicas != 3 {
			return fmt.Errorf("%d replicas of the worker are ready, want 3", d.Status.ReadyReplicas)
		}
		return nil
	}, "--context", member, "-n", shop, "get", "deployment", "worker", "-o", "json")
}

func (s *stage) feed(t *testing.T, stdin string, args ...string) {
	t.Helper()
	if _, err := s.try(t.Context(), stdin, args...); err != nil {
		t.Fatal(err)
	}
}

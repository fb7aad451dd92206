// SPDX-License-Identifier: Apache-2.0

package install

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

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
	s.leave(t, member)
}

// join has a member join that runs the worker.
func (s *stage) join(t *testing.T, name string) {
	t.Helper()
	s.feed(t, worker, "--context", name, "apply", "-f", "-")
	for _, c := range s.Members() {
		if c.Name == name {
			s.kubectl(t, "fleetscale", "join", name, "--context", name, "--server", c.InsideURL())
		}
	}
}

func (s *stage) leave(t *testing.T, name string) {
	t.Helper()
	s.kubectl(t, "fleetscale", "leave", name, "--context", name, "--yes")
	s.kubectl(t, "--context", name, "-n", shop, "delete", "deployment", "worker", "--cascade=foreground")
}

// ours labels what is installed.
const ours = "app.kubernetes.io/part-of=fleetscale"

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

// testServed awaits that the hub reaches each API, and verifies who serves it.
func (s *stage) testServed(t *testing.T) {
	for _, name := range []string{"v1.metrics.k8s.io", "v1beta1.metrics.k8s.io",
		"v1beta1.custom.metrics.k8s.io", "v1beta2.custom.metrics.k8s.io",
		"v1beta1.external.metrics.k8s.io", "v1alpha1.members.fleetscale.io"} {
		s.kubectl(t, "wait", "--for=condition=Available", "--timeout="+patience.String(), "apiservice/"+name)
	}
	var apis apiregistrationv1.APIServiceList
	s.read(t, &apis, "get", "apiservices", "-l", ours)
	for _, api := range apis.Items {
		if api.Spec.InsecureSkipTLSVerify || len(api.Spec.CABundle) == 0 {
			t.Errorf("the hub does not verify who serves %s: %+v", api.Name, api.Spec)
		}
	}
	if got, want := len(apis.Items), 7; got != want {
		t.Errorf("there are %d APIServices of ours, want %d", got, want)
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
	s.join(t, member)
	s.await(t, contains("worker-"), "top", "pods", "-n", shop)
	s.await(t, contains("worker-", member), "get", "podmetrics", "-n", shop)

	s.feed(t, fmt.Sprintf(autoscaler, "worker"), "apply", "-f", "-")
	const refusal = `Deployment "worker" is scaled by FederatedHPA "worker" already`
	_, err := s.try(t.Context(), fmt.Sprintf(autoscaler, "another"), "apply", "-f", "-")
	if err == nil || !strings.Contains(err.Error(), refusal) {
		t.Errorf("a second autoscaler of the worker: error = %v, want %s", err, refusal)
	}
	s.awaitReady(t, member, 3)
}

// awaitReady awaits that a member runs so many replicas of the worker.
func (s *stage) awaitReady(t *testing.T, name string, want int32) {
	t.Helper()
	s.await(t, func(said string) error {
		var d appsv1.Deployment
		if err := json.Unmarshal([]byte(said), &d); err != nil {
			return err
		}
		if d.Status.ReadyReplicas != want {
			return fmt.Errorf("%d replicas of the worker are ready, want %d", d.Status.ReadyReplicas, want)
		}
		return nil
	}, "--context", name, "-n", shop, "get", "deployment", "worker", "-o", "json")
}

func (s *stage) feed(t *testing.T, stdin string, args ...string) {
	t.Helper()
	if _, err := s.try(t.Context(), stdin, args...); err != nil {
		t.Fatal(err)
	}
}

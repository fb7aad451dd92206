// SPDX-License-Identifier: Apache-2.0

package skew

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

func TestVersionsApart(t *testing.T) {
	if testing.Short() {
		t.Skip("building other versions of Kubernetes takes minutes; it runs in make test-full PARTS=skew")
	}
	for _, c := range combinations() {
		t.Run(fmt.Sprintf("hub %s, members %s and %s", c.hub, c.members[0], c.members[1]), func(t *testing.T) {
			e := raise(t, c)
			for _, step := range []struct {
				name string
				run  func(*env, *testing.T)
			}{
				{"the clusters are of these versions", (*env).areOfTheirVersions},
				{"kubectl top shows the Pods of both members", (*env).topShowsAll},
				{"a FederatedHPA in central mode counts the metrics of both", (*env).scalesCentrally},
				{"one in distributed mode has each scale by its own", (*env).scalesDistributed},
				{"the webhook refuses what cannot work", (*env).refuses},
			} {
				t.Run(step.name, func(t *testing.T) { step.run(e, t) })
			}
		})
	}
}

// areOfTheirVersions holds the lab to what it was told.
func (e *env) areOfTheirVersions(t *testing.T) {
	want := map[string]string{"hub": e.hub, "member1": e.members[0], "member2": e.members[1]}
	for cluster, minor := range want {
		version, err := e.clients[cluster].Discovery().ServerVersion()
		if err != nil {
			t.Fatal(err)
		}
		if got := version.Major + "." + version.Minor; got != minor || !strings.HasPrefix(version.GitVersion, "v"+minor+".") {
			t.Errorf("%s is of %s (%s), want %s", cluster, got, version.GitVersion, minor)
		}
	}
}

// deployment is one of a Pod in each member.
func deployment(name string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: 1
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 100m, memory: 64Mi}}}]}
`, name)
}

// works has a Deployment run in both members.
func (e *env) works(t *testing.T, name string) {
	t.Helper()
	for _, member := range e.Members() {
		if err := e.Apply(t.Context(), member, shop, deployment(name)); err != nil {
			t.Fatal(err)
		}
	}
}

// queued sets the length of a queue, by member: each has its own.
func (e *env) queued(t *testing.T, name, first, second string) {
	t.Helper()
	for i, length := range []string{first, second} {
		series := lab.Series{Metric: name, Value: resource.MustParse(length)}
		if err := e.Members()[i].SetSeries(t.Context(), series); err != nil {
			t.Fatal(err)
		}
	}
}

func (e *env) feed(t *testing.T, manifest string) {
	t.Helper()
	if err := e.Apply(t.Context(), e.Hub(), shop, manifest); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	if err := fixture.Await(t.Context(), patience, check); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// runs waits until the members run so many Ready Pods of a Deployment.
func (e *env) runs(t *testing.T, name string, first, second int32) {
	t.Helper()
	want := []int32{first, second}
	eventually(t, fmt.Sprintf("%s runs %v", name, want), func(ctx context.Context) error {
		var got []int32
		for _, member := range e.Members() {
			d, err := e.clients[member.Name].AppsV1().Deployments(shop).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			got = append(got, d.Status.ReadyReplicas)
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("it runs %v", got)
		}
		return nil
	})
}

// topShowsAll asks kubectl, of the newest version, through the hub and the adapter.
func (e *env) topShowsAll(t *testing.T) {
	e.works(t, "top")
	for i, usage := range []string{"70m", "30m"} {
		if err := e.Members()[i].SetUsage(t.Context(), lab.Usage{Namespace: shop, CPU: new(resource.MustParse(usage))}); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range [][2]string{
		{"app=top", "30m 70m"}, {"app=top,fleetscale.io/cluster=member1", "70m"}, {"app=top,fleetscale.io/cluster=member2", "30m"},
	} {
		eventually(t, "kubectl top of "+step[0], func(ctx context.Context) error {
			said, err := e.Ask(ctx, "-n", shop, "top", "pods", "--no-headers", "-l", step[0])
			if err != nil {
				return err
			}
			used, err := usedCPU(said.Stdout)
			if err != nil {
				return err
			}
			if got := strings.Join(used, " "); got != step[1] || said.Stderr != "" {
				return fmt.Errorf("they use %q, and it warns %q", got, said.Stderr)
			}
			return nil
		})
	}
}

// usedCPU is what Pods use by a table of kubectl top without its header, in order: what is measured of 70m may be 69m or 71m.
func usedCPU(table string) (used []string, err error) {
	for line := range strings.Lines(table) {
		q, err := resource.ParseQuantity(strings.Fields(line)[1])
		if err != nil {
			return nil, err
		}
		used = append(used, fmt.Sprintf("%dm", (q.MilliValue()+5)/10*10))
	}
	slices.Sort(used)
	return used, nil
}

// scalesCentrally: 25 and 15 are 40, of which each replica takes 10. Neither member alone would make it four.
func (e *env) scalesCentrally(t *testing.T) {
	e.works(t, "central")
	e.queued(t, "central-queue", "25", "15")
	e.feed(t, `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: central}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: central}
  minReplicas: 2
  maxReplicas: 12
  metrics:
  - type: External
    external:
      metric: {name: central-queue, selector: {matchLabels: {fleetscale.io/merge: sum}}}
      target: {type: AverageValue, averageValue: 10}
  replicaDistribution: {type: StaticWeighted}
`)
	e.runs(t, "central", 2, 2)
	e.queued(t, "central-queue", "45", "35")
	e.runs(t, "central", 4, 4)
	e.queued(t, "central-queue", "5", "15")
	e.runs(t, "central", 1, 1)
	e.isActive(t, "central")
}

// scalesDistributed: each member has an autoscaler with half of the bounds, and follows its own queue.
func (e *env) scalesDistributed(t *testing.T) {
	e.works(t, "split")
	e.queued(t, "split-queue", "28", "12")
	e.feed(t, `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: split}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: split}
  minReplicas: 2
  maxReplicas: 8
  metrics:
  - type: External
    external: {metric: {name: split-queue}, target: {type: AverageValue, averageValue: 10}}
  federatedHPAAssignment: {federatedHPAAssignmentType: StaticWeighted}
`)
	e.runs(t, "split", 3, 2)
	for _, member := range e.Members() {
		list, err := e.clients[member.Name].AutoscalingV2().HorizontalPodAutoscalers(shop).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, hpa := range list.Items {
			if *hpa.Spec.MinReplicas != 1 || hpa.Spec.MaxReplicas != 4 {
				t.Errorf("%s: its autoscaler has %d-%d, want 1-4", member.Name, *hpa.Spec.MinReplicas, hpa.Spec.MaxReplicas)
			}
		}
		if len(list.Items) != 1 {
			t.Errorf("%s has %d autoscalers, want one", member.Name, len(list.Items))
		}
	}
	e.isActive(t, "split")
}

// isActive waits until the status of a FederatedHPA says that all is well, of both clusters.
func (e *env) isActive(t *testing.T, name string) {
	t.Helper()
	autoscalers := e.objects.Resource(v1alpha1.SchemeGroupVersion.WithResource("federatedhpas")).Namespace(shop)
	eventually(t, name+" is active", func(ctx context.Context) error {
		object, err := autoscalers.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		f := &v1alpha1.FederatedHPA{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, f); err != nil {
			return err
		}
		s := f.Status.Summary
		if s == nil || s.State != v1alpha1.StateActive || s.Clusters != "2/2" {
			return fmt.Errorf("its summary is %+v, and its conditions %+v", s, f.Status.Conditions)
		}
		return nil
	})
}

// refuses: only the webhook knows times. What it says comes through the hub to who applies.
func (e *env) refuses(t *testing.T) {
	const bad = `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: bad}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: central}
  rules: [{name: late, schedule: "61 * * * *", targetReplicas: 1}]
`
	_, err := e.Feed(t.Context(), bad, "-n", shop, "create", "-f", "-")
	const want = `minute "61": must be 0 to 59, got 61`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("it says %v, want %s", err, want)
	}
}

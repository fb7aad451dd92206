// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// People who have the last release, with autoscalers of all kinds, upgrade to this one, go back, and upgrade again, by the commands of
// docs/upgrade.md. No version deletes, replaces or changes what they have, or forgets why it has not scaled; each still decides, and
// the hub answers for metrics all the time. At last they uninstall, and nothing is left.
func TestUpgrade(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds another version, and waits for rules that run by the minute: it runs in make test-full PARTS=install")
	}
	e := started(t)
	former, err := e.checkout(t.Context(), e.lastRelease(t))
	if err != nil {
		t.Fatal(err)
	}
	current, before := e.dir, map[string]string{}
	for _, folder := range []string{"deploy", "certs"} {
		if err := os.Symlink(filepath.Join(e.Repository, folder), filepath.Join(current, folder)); err != nil {
			t.Fatal(err)
		}
	}
	for _, cluster := range []string{"hub", east, west} {
		before[cluster] = e.traced(t, cluster)
	}
	s := e.newSite(t)
	s.installs(former)
	s.hasAutoscalers()
	s.decides(8)
	commands := e.commands(t, "upgrade.md", "Upgrade")

	s.changes("upgrade", func() { s.types(current, commands[0]) })
	s.decides(10)
	day := s.hasNewFields()
	s.changes("going back", func() {
		if _, err := os.Stat(filepath.Join(former, "deploy", "base", "hub", "history.yaml")); err != nil {
			s.does("kubectl --context hub delete apiservice v1alpha1.history.fleetscale.io")
		}
		s.types(former, commands[1])
	})
	s.decides(8)
	s.changes("second upgrade", func() { s.types(current, commands[0]) })
	s.decides(10)
	s.eventually("fields that the former kind lacks are back", func(ctx context.Context) error {
		o, err := s.get(ctx, "hub", cron, "day")
		if diff := cmp.Diff(day, o.Object["spec"]); err == nil && diff != "" {
			err = errors.New(diff)
		}
		return err
	})

	s.uninstalls(current)
	for cluster, had := range before {
		if more := e.leaves(t, cluster, had); len(more) > 0 {
			t.Errorf("left in %s: %s", cluster, strings.Join(more, ", "))
		}
	}
}

// installs does what the former version's own pages say.
func (s *site) installs(former string) {
	s.t.Helper()
	s.types(former, commandsIn(s.t, filepath.Join(former, "docs", "install.md"), "A hub without other metrics servers")[0])
	s.does(`export PATH="` + filepath.Join(former, "bin") + `:$PATH"
kubectl fleetscale join east --context east --allow-local-members
kubectl fleetscale join west --context west --allow-local-members`)
}

// autoscalers are one of each kind and mode. web may rise by two replicas in half an hour, and held may not shrink within an hour, so both
// stay where they are for what their status remembers; night is told each minute what it has.
const autoscalers = `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 20
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
  replicaDistribution: {type: StaticWeighted}
  behavior:
    scaleUp: {policies: [{type: Pods, value: 2, periodSeconds: 1800}]}
    scaleDown: {stabilizationWindowSeconds: 0, policies: [{type: Pods, value: 20, periodSeconds: 1800}]}
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: held}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: held}
  minReplicas: 2
  maxReplicas: 4
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
  behavior: {scaleDown: {stabilizationWindowSeconds: 3600}}
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: api}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: api}
  minReplicas: 2
  maxReplicas: 8
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
  federatedHPAAssignment: {federatedHPAAssignmentType: StaticWeighted}
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: night}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: night}
  rules: [{name: always, schedule: "* * * * *", targetReplicas: 3}]
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: MultidimPodAutoscaler
metadata: {name: batch}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: batch}
  policy: {updateMode: "Off"}
  goals: {metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]}
  constraints: {global: {minReplicas: 2, maxReplicas: 8}, containerControlledResources: [cpu, memory]}
  replicaDistribution: {type: StaticWeighted}
`

// newFields is an autoscaler whose fields the former kind may lack.
const newFields = `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: day}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: day}
  rules: [{name: always, schedule: "* * * * *", targetReplicas: 3}]
  replicaDistribution:
    type: StaticWeighted
    clusterAutoscalingPreference:
    - {targetCluster: {clusterNames: [east]}, staticWeight: 1}
    - {targetCluster: {clusterNames: [west]}, staticWeight: 2}
`

// hasAutoscalers returns when people have something to lose.
func (s *site) hasAutoscalers() {
	s.t.Helper()
	for _, cluster := range []string{"hub", east, west} {
		if err := s.CreateNamespace(s.t.Context(), s.named(s.t, cluster), shop); err != nil {
			s.t.Fatal(err)
		}
	}
	for app, use := range map[string]string{"web": "100m", "held": "100m", "api": "50m", "night": "10m", "day": "10m", "batch": "60m"} {
		s.uses(app, use)
		for _, cluster := range []string{east, west} {
			s.does(fmt.Sprintf(`kubectl --context %[1]s -n shop create deployment %[2]s --image=%[2]s
kubectl --context %[1]s -n shop set resources deployment %[2]s --requests=cpu=100m,memory=128Mi`, cluster, app))
		}
	}
	began := time.Now()
	s.applies(autoscalers)
	s.eventually("held has all that it may have", s.have("held", 4))
	s.uses("held", "10m")
	s.eventually("held stays, as its window is not over", s.isBecause("held", "AbleToScale", "ScaleDownStabilized", 4))
	s.eventually("the members' own autoscalers have metrics", func(ctx context.Context) error {
		for _, cluster := range []string{east, west} {
			o, err := s.get(ctx, cluster, hpas, "api")
			if err != nil {
				return err
			}
			if metrics, _, _ := unstructured.NestedSlice(o.Object, "status", "currentMetrics"); len(metrics) == 0 {
				return fmt.Errorf("that of %s has none: %v", cluster, o.Object["status"])
			}
		}
		return nil
	})
	s.eventually("sizes are recommended, and what they are of is kept", func(ctx context.Context) error {
		o, err := s.get(ctx, "hub", multidim, "batch")
		if err != nil {
			return err
		}
		containers, _, _ := unstructured.NestedSlice(o.Object, "status", "recommendation", "containers")
		kept, err := s.list(ctx, "hub", histories)
		if err == nil && (len(containers) == 0 || len(kept) == 0) {
			err = fmt.Errorf("%d containers, %d histories", len(containers), len(kept))
		}
		return err
	})
	s.eventually("a rule has run", s.ran("night", began, 3))
}

// hasNewFields returns the spec of an autoscaler that only this version's people can have, once it is acted on.
func (s *site) hasNewFields() (spec any) {
	s.t.Helper()
	began := time.Now()
	s.applies(newFields)
	s.eventually("a rule with weights has run", s.ran("day", began, 3))
	s.eventually("its replicas are divided by them", func(ctx context.Context) error {
		o, err := s.get(ctx, west, deployment, "day")
		if err != nil {
			return err
		}
		if n, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas"); n != 2 {
			return fmt.Errorf("west has %d, want 2", n)
		}
		return nil
	})
	o, err := s.get(s.t.Context(), "hub", cron, "day")
	if err != nil {
		s.t.Fatal(err)
	}
	return o.Object["spec"]
}

func (s *site) applies(manifests string) {
	s.t.Helper()
	if _, err := s.Feed(s.t.Context(), manifests, "-n", shop, "apply", "--server-side", "-f", "-"); err != nil {
		s.t.Fatal(err)
	}
}

// uses sets the load of each Pod of a Deployment.
func (s *site) uses(app, cpu string) {
	s.t.Helper()
	usage := lab.Usage{Namespace: shop, Labels: map[string]string{"app": app}, CPU: new(resource.MustParse(cpu))}
	for _, cluster := range []string{east, west} {
		if err := s.named(s.t, cluster).SetUsage(s.t.Context(), usage); err != nil {
			s.t.Fatal(err)
		}
	}
}

// decides has the programs that run now show that they do: people change the load, and what they have written, and changes are followed.
// most is what they write as a bound. At the end web and held are again where only the past holds them.
func (s *site) decides(most int64) {
	s.t.Helper()
	runs, began := most-4, time.Now()
	for object, patch := range map[string]string{
		"federatedhpa/api":            `{"spec": {"maxReplicas": %d}}`,
		"multidimpodautoscaler/batch": `{"spec": {"constraints": {"global": {"maxReplicas": %d}}}}`,
	} {
		s.patches(object, fmt.Sprintf(patch, most))
	}
	s.patches("cronfederatedhpa/night",
		fmt.Sprintf(`{"spec": {"rules": [{"name": "always", "schedule": "* * * * *", "targetReplicas": %d}]}}`, runs))
	s.uses("web", "10m")
	s.eventually("less load takes replicas away", s.have("web", 2))
	s.uses("web", "100m")
	s.eventually("more load adds replicas, as many as may be", s.have("web", 4))
	s.eventually("no more may be added", s.isBecause("web", "ScalingLimited", "ScaleUpLimit", 4))
	s.eventually("the bound is split", s.split(most))
	s.eventually("the bound is that of the FederatedHPA of the goals", func(ctx context.Context) error {
		list, err := s.list(ctx, "hub", federated)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(list, func(o unstructured.Unstructured) bool {
			bound, _, _ := unstructured.NestedInt64(o.Object, "spec", "maxReplicas")
			return len(o.GetOwnerReferences()) == 1 && bound == most
		}) {
			return fmt.Errorf("none of %d has it", len(list))
		}
		return nil
	})
	s.eventually("the rule sets what it says now", s.ran("night", began, runs))
	s.eventually("held stays, as its window is not over", s.isBecause("held", "AbleToScale", "ScaleDownStabilized", 4))
}

func (s *site) patches(object, patch string) {
	s.t.Helper()
	if _, err := s.Ask(s.t.Context(), "-n", shop, "patch", object, "--type=merge", "-p", patch); err != nil {
		s.t.Fatal(err)
	}
}

// changes has people change the version, and finds what it should not have changed, once the other version has reconciled everything twice.
func (s *site) changes(what string, do func()) {
	s.t.Helper()
	before, began, ends := s.settled(), time.Now(), s.asks()
	do()
	s.reconcilesAll()
	after := s.reads()
	answered, faults := ends()
	s.t.Logf("%s: %d questions for metrics were answered, and %d not", what, answered, len(faults))
	if len(faults) > 0 || answered == 0 {
		s.t.Errorf("%s: questions for metrics were not answered:\n%s", what, strings.Join(faults, "\n"))
	}
	for _, seen := range []state{before, after} {
		const name = "hub/cronfederatedhpas/day" // whose fields come and go with the kind
		if day, has := seen.Objects[name]; has {
			day.Generation, day.Spec = 0, nil
			seen.Objects[name] = day
		}
	}
	if diff := cmp.Diff(before, after); diff != "" {
		s.t.Errorf("%s changes what people have (-before +after):\n%s", what, diff)
	}
	for _, cluster := range []string{east, west} {
		writes, err := s.named(s.t, cluster).AutoscalerWrites()
		if err != nil {
			s.t.Fatal(err)
		}
		for _, w := range writes {
			if w.Done.After(began) {
				s.t.Errorf("%s: %s of %s writes %s", what, w.User, cluster, w.Name)
			}
		}
	}
}

func (s *site) reads() state {
	s.t.Helper()
	seen, err := s.state(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return seen
}

// settled is the state once nothing changes any more of itself.
func (s *site) settled() (now state) {
	s.t.Helper()
	s.eventually("nothing changes any more", func(ctx context.Context) error {
		before := s.reads()
		s.reconcilesAll()
		now = s.reads()
		if diff := cmp.Diff(before, now); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
	return now
}

// reconcilesAll returns when the controller-manager that runs has reconciled more than twice as often as there are objects: each of them
// comes once in a period, of seconds here.
func (s *site) reconcilesAll() {
	s.t.Helper()
	list, err := s.list(s.t.Context(), "hub", federated)
	if err != nil {
		s.t.Fatal(err)
	}
	for controller, periods := range map[string]int{federated: 3 * len(list), multidim: 3} {
		controller = strings.TrimSuffix(controller, "s")
		reconciles := func(ctx context.Context) (float64, error) { // that have ended, in whatever way
			return fixture.Metric(ctx, s.metrics, "controller_runtime_reconcile_total", `controller="`+controller+`"`)
		}
		began, err := reconciles(s.t.Context())
		if err == nil {
			err = fixture.Await(s.t.Context(), patience, func(ctx context.Context) error {
				n, err := reconciles(ctx)
				if err == nil && n < began+float64(periods) {
					err = fmt.Errorf("%v reconciles of %s after %v, want %d more", n, controller, began, periods)
				}
				return err
			})
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// asks has somebody ask the hub what the Pods of both members use, again and again, until end, which returns how often there was an answer,
// and what was not one.
func (s *site) asks() (end func() (answered int, faults []string)) {
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan struct{})
	answered, faults := 0, []string(nil)
	go func() {
		defer close(done)
		for pause := time.NewTicker(200 * time.Millisecond); ; {
			err := s.answers(ctx)
			switch {
			case ctx.Err() != nil:
				pause.Stop()
				return
			case err != nil:
				faults = append(faults, time.Now().UTC().Format(time.TimeOnly)+" "+err.Error())
			default:
				answered++
			}
			<-pause.C
		}
	}()
	return func() (int, []string) {
		cancel()
		<-done
		return answered, faults
	}
}

// answers reports whether the hub tells what Pods of both members use.
func (s *site) answers(ctx context.Context) error {
	usage := kindOf(pods)
	usage.Group, usage.Version = "metrics.k8s.io", "v1beta1"
	list, err := s.objects["hub"].Resource(usage).Namespace(shop).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	clusters := map[string]bool{}
	for _, o := range list.Items {
		clusters[o.GetLabels()["fleetscale.io/cluster"]] = true
	}
	if want := map[string]bool{east: true, west: true}; !reflect.DeepEqual(clusters, want) {
		return fmt.Errorf("there are Pods of %v, want %v", clusters, want)
	}
	return nil
}

// uninstalls does what docs/upgrade.md says, on a hub without other servers of metrics, and then takes away what people had.
func (s *site) uninstalls(checkout string) {
	s.t.Helper()
	for _, block := range s.commands(s.t, "upgrade.md", "Uninstall") {
		if strings.Contains(block, "kubectl fleetscale restore") {
			continue // where an API was taken over
		}
		s.types(checkout, block)
		if strings.Contains(block, "delete federatedhpa") {
			for _, cluster := range []string{east, west} {
				list, err := s.list(s.t.Context(), cluster, hpas)
				if err != nil || len(list) > 0 {
					s.t.Errorf("%s has %d HorizontalPodAutoscalers of a FederatedHPA that is gone, %v", cluster, len(list), err)
				}
			}
		}
		if strings.Contains(block, "overlays") {
			s.stop()
		}
	}
	for _, cluster := range []string{"hub", east, west} {
		s.does("kubectl --context " + cluster + " delete namespace " + shop)
	}
	for _, folder := range []string{"deploy", "certs"} {
		if err := os.Remove(filepath.Join(checkout, folder)); err != nil {
			s.t.Error(err)
		}
	}
}

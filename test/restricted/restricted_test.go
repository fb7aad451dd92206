// SPDX-License-Identifier: Apache-2.0

package restricted_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// patience is for what comes by itself.
const patience = 2 * time.Minute

// autoscalers are one of each kind.
const autoscalers = `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: web}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 4, replicaDistribution: {},
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]}
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: web}
spec: {scaleTargetRef: {apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, name: web}, rules: [{name: yearly,
  schedule: "0 0 1 1 *", targetMaxReplicas: 4}]}
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: api}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: api}, minReplicas: 2, maxReplicas: 4, federatedHPAAssignment: {},
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]}
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: MultidimPodAutoscaler
metadata: {name: sized}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: sized}}
`

// outside is what is said of what is not in the namespaces.
const outside = `fleetscale acts in namespaces pay, shop only, and not in namespace "other": whoever runs it adds that to --namespaces`

func TestRestricted(t *testing.T) {
	e := shared.Of(t)
	for _, namespace := range []string{shop, pay, other} {
		said, err := e.Feed(t.Context(), autoscalers, "-n", namespace, "apply", "-f", "-")
		if err != nil {
			t.Fatal(err)
		}
		if warned := strings.Contains(said.Stderr, "Warning: "+outside); warned != (namespace == other) {
			t.Errorf("in %s their author is told %q", namespace, said.Stderr)
		}
	}
	for _, namespace := range []string{shop, pay} {
		t.Run(namespace, func(t *testing.T) {
			e.comes(t, "central mode scales", func(ctx context.Context) error { return e.runs(ctx, namespace, "web", 4) })
			e.comes(t, "distributed mode makes an autoscaler", func(ctx context.Context) error {
				_, err := e.Ask(ctx, "--context", memberName, "-n", namespace, "get", "hpa", "api")
				return err
			})
			e.comes(t, "sizes are recommended, without nodes", func(ctx context.Context) error { return e.recommends(ctx, namespace) })
		})
	}
	t.Run("kubectl top", e.top)
	t.Run("kubectl get --raw", e.raw)
	t.Run("another namespace stays unchanged", e.staysUnchanged)
	t.Run("nothing was refused", e.nothingRefused)
}

func (e *env) comes(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	if err := fixture.Await(t.Context(), patience, check); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func (e *env) runs(ctx context.Context, namespace, deployment string, replicas int) error {
	said, err := e.Ask(ctx, "--context", memberName, "-n", namespace, "get", "deployment", deployment, "-o", "jsonpath={.spec.replicas}")
	if err == nil && said.Stdout != fmt.Sprint(replicas) {
		err = fmt.Errorf("%s has %s replicas, want %d", deployment, said.Stdout, replicas)
	}
	return err
}

// recommends is nil once there is a recommendation, which says that nodes are not known, and why.
func (e *env) recommends(ctx context.Context, namespace string) error {
	said, err := e.Ask(ctx, "-n", namespace, "get", "mpa", "sized", "-o", "json")
	if err != nil {
		return err
	}
	m := &v1alpha1.MultidimPodAutoscaler{}
	if err := json.Unmarshal([]byte(said.Stdout), m); err != nil {
		return err
	}
	if c := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.MultidimRecommendationProvided); c == nil || c.Reason == "Held" {
		return fmt.Errorf("it is not recommended yet: %+v", c)
	}
	if text := said.Stdout; !strings.Contains(text, "OutOfScope") || strings.Contains(text, "Forbidden") {
		return fmt.Errorf("it does not say why nodes are not known: %s", text)
	}
	return nil
}

// top is of the namespaces that the programs act in. Others are refused, and so are nodes, which have none.
func (e *env) top(t *testing.T) {
	tests := map[string]struct {
		args    string
		want    []string // namespaces, of all
		refusal string
	}{
		"a namespace":       {args: "pods -n shop", want: []string{""}},
		"all namespaces":    {args: "pods -A", want: []string{pay, shop}},
		"another namespace": {args: "pods -n other", refusal: outside},
		"nodes":             {args: "nodes", refusal: "fleetscale acts in namespaces pay, shop only (--namespaces), and nodes have no namespace"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			said, err := e.Ask(t.Context(), append(append([]string{"top"}, strings.Fields(tc.args)...), "--no-headers")...)
			switch {
			case tc.refusal != "":
				if err == nil || !strings.Contains(said.Stderr, "Forbidden") || !strings.Contains(said.Stderr, tc.refusal) {
					t.Errorf("it says %q and %q, want %q", said.Stdout, said.Stderr, tc.refusal)
				}
				return
			case err != nil || said.Stderr != "":
				t.Fatalf("%v: it complains %q", err, said.Stderr)
			}
			var namespaces []string
			for line := range strings.Lines(said.Stdout) {
				fields := strings.Fields(line)
				if len(fields) < 4 { // of one namespace
					fields = append([]string{""}, fields...)
				}
				namespaces = append(namespaces, fields[0])
			}
			slices.Sort(namespaces)
			fleettest.Same(t, "namespaces", tc.want, slices.Compact(namespaces))
		})
	}
}

// raw is of custom and external metrics. Nobody has them in any namespace, which is an answer.
func (e *env) raw(t *testing.T) {
	const custom, external = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/", "/apis/external.metrics.k8s.io/v1beta1/namespaces/"
	for path, refused := range map[string]bool{
		custom + shop + "/pods/*/rps": false, custom + other + "/pods/*/rps": true,
		external + shop + "/queue": false, external + other + "/queue": true,
	} {
		said, err := e.Ask(t.Context(), "get", "--raw", path)
		if refused && err == nil || strings.Contains(said.Stderr, outside) != refused || strings.Contains(said.Stderr, "Forbidden") != refused {
			t.Errorf("%s: %v: %s; want it refused: %v", path, err, said.Stderr, refused)
		}
	}
}

// staysUnchanged holds that objects of another namespace have no status, finalizer or Event, and that nothing came of them.
func (e *env) staysUnchanged(t *testing.T) {
	said, err := e.Ask(t.Context(), "-n", other, "get", "fhpa,cronfhpa,mpa", "-o",
		`jsonpath={range .items[*]}{.kind} {.metadata.name}{.metadata.finalizers}{.status}{"\n"}{end}`)
	if want := "FederatedHPA api\nFederatedHPA web\nCronFederatedHPA web\nMultidimPodAutoscaler sized\n"; err != nil || said.Stdout != want {
		t.Errorf("%v: they are %q, want %q", err, said.Stdout, want)
	}
	said, err = e.Ask(t.Context(), "-n", other, "get", "events", "-o", "name")
	if err != nil || said.Stdout != "" {
		t.Errorf("%v: Events on the hub %q", err, said.Stdout)
	}
	said, err = e.Ask(t.Context(), "--context", memberName, "-n", other, "get", "hpa", "-o", "name")
	if err = errors.Join(err, e.runs(t.Context(), other, "web", 2), e.runs(t.Context(), other, "api", 2)); err != nil || said.Stdout != "" {
		t.Errorf("%v: HorizontalPodAutoscalers in the member %q", err, said.Stdout)
	}
}

// nothingRefused holds that no program asked for what it has no right to, and that none asked about the other namespace.
func (e *env) nothingRefused(t *testing.T) {
	for _, cluster := range []*lab.Cluster{e.Hub(), e.member} {
		refused, err := cluster.Refused()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range refused {
			if strings.HasPrefix(r.User, "system:serviceaccount:fleetscale-") {
				t.Errorf("%s refused %s %s to %s", cluster.Name, r.Verb, r.URI, r.User)
			}
		}
		asked, err := cluster.Requests()
		if err != nil {
			t.Fatal(err)
		}
		if len(asked) == 0 {
			t.Errorf("%s has recorded no requests", cluster.Name)
		}
		for _, r := range asked {
			if strings.HasPrefix(r.User, "system:serviceaccount:fleetscale-") && strings.Contains(r.URI, "/namespaces/"+other) {
				t.Errorf("%s was asked %s %s by %s", cluster.Name, r.Verb, r.URI, r.User)
			}
		}
	}
}

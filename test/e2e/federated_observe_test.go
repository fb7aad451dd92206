// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// observerNamespace has the identity of the observer, on the hub and in members, and its registrations. What its accounts ask is recorded.
const observerNamespace = "fleetscale-observer"

// observesAll has a controller-manager with --observe run beside the one that acts, with the rights that deploy/ grants then: it decides on
// autoscalers of all kinds, says so, and asks to change nothing, neither on the hub nor in a member.
func (s *stage) observesAll() {
	s.queue("20")
	s.propagate(2, "member1", "member2")
	s.apply("hub", `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: MultidimPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  goals: {metrics: [`+byCPU+`]}
  constraints: {global: {minReplicas: 2, maxReplicas: 6}}
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: far}
spec:
  scaleTargetRef: {apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, name: far}
  rules: [{name: soon, schedule: "* * * * *", targetMinReplicas: 4}]
---
`+s.autoscalerOf("far", "minReplicas: 2, maxReplicas: 8, metrics: ["+s.byQueue(10)+
		"], federatedHPAAssignment: {federatedHPAAssignmentType: StaticWeighted}"))
	for _, cluster := range []string{"member1", "member2"} {
		s.apply(cluster, strings.ReplaceAll(webOf("Deployment", 2, false), "web", "far"))
	}
	// While there is somebody who lets it go.
	s.t.Cleanup(func() {
		if _, err := s.Ask(afterwards(s.t), "-n", s.ns, "delete", "cronfhpa/far", "fhpa/far", "--timeout=50s"); err != nil {
			s.t.Error(err)
		}
	})
	s.comes("who acts has a FederatedHPA made for the goals", func(f *v1alpha1.FederatedHPA) error {
		if f.Status.Explanation == nil {
			return errors.New("nothing is decided")
		}
		return nil
	})
	o := s.observer()

	for object, kind := range map[string]string{
		"fhpa/web": "FederatedHPA", "fhpa/far": "FederatedHPA", "mpa/web": "MultidimPodAutoscaler", "cronfhpa/far": "CronFederatedHPA",
	} {
		_, name, _ := strings.Cut(object, "/")
		s.explainedBy(o, object, kind+" "+s.ns+"/"+name)
	}
	for _, series := range []string{
		fmt.Sprintf(`fleetscale_federatedhpa_mode{mode="Observe",name="web",namespace=%q} 1`, s.ns),
		fmt.Sprintf(`fleetscale_federatedhpa_mode{mode="Observe",name="far",namespace=%q} 1`, s.ns),
		fmt.Sprintf(`fleetscale_horizontal_pod_autoscaler_controller_desired_replicas{hpa_name="web",namespace=%q} `, s.ns),
		fmt.Sprintf(`fleetscale_federatedhpa_state{name="web",namespace=%q,state="Observing"} 1`, s.ns),
		fmt.Sprintf(`fleetscale_federatedhpa_spec_max_replicas{name="web",namespace=%q} `, s.ns),
	} {
		eventually(s.t, series, func(context.Context) error {
			if said := scrapeText(s.t, o.metrics); !strings.Contains(said, series) {
				return errors.New("the observer's metrics lack it")
			}
			return nil
		})
	}
	eventually(s.t, "the rule has run, for the observer", func(context.Context) error {
		if strings.Contains(scrapeText(s.t, o.metrics), `fleetscale_cron_run_lag_seconds_count{result="succeeded"} 0`) {
			return errors.New("no run has succeeded")
		}
		return nil
	})
	s.comes("the hub knows nothing of an observer", func(f *v1alpha1.FederatedHPA) error {
		if f.Spec.Mode == v1alpha1.ModeObserve || f.Status.Summary == nil || f.Status.Summary.State == v1alpha1.StateObserving {
			return fmt.Errorf("mode %q, summary %+v", f.Spec.Mode, f.Status.Summary)
		}
		return nil
	})

	log, err := os.ReadFile(o.Log)
	if err != nil || strings.Contains(string(log), "only observes") {
		s.t.Errorf("the observer tried to write (%v): %s", err, o.Log)
	}
	for _, cluster := range append(s.Members(), s.Hub()) {
		s.onlyRead(cluster)
	}
}

// observer is a controller-manager that only observes.
type observer struct {
	*lab.Process
	metrics, address string
}

// observer starts one for the namespace, with accounts of its own.
func (s *stage) observer() *observer {
	s.t.Helper()
	for _, cluster := range append(s.Members(), s.Hub()) {
		if err := s.CreateNamespace(s.t.Context(), cluster, observerNamespace); err != nil {
			s.t.Fatal(err)
		}
		folder, moved := "member", fixture.MemberNamespace
		if cluster == s.Hub() {
			folder, moved = "hub", fixture.SystemNamespace
		}
		s.grantObserver(cluster, folder, moved)
	}
	for _, member := range s.Members() {
		kubeconfig := s.kubeconfigIn(member, "observer-fleetscale-write")
		if err := s.RegisterIn(s.t.Context(), observerNamespace, member.Name, kubeconfig); err != nil {
			s.t.Fatal(err)
		}
	}
	file := filepath.Join(s.t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, s.kubeconfigIn(s.Hub(), "observer-controller-manager"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	ports, err := s.FreePorts(3)
	if err != nil {
		s.t.Fatal(err)
	}
	at := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", ports[i]) }
	o := &observer{metrics: "http://" + at(1) + "/metrics", address: "http://" + at(2)}
	o.Process, err = s.Run(s.t.Context(), lab.Program{
		Name: "observer", Path: s.controllers, Ready: lab.HTTPReady("http://" + at(0) + "/readyz"),
		Args: append(federatedFlags(), "--observe", "--kubeconfig="+file, "--allow-local-members", "--namespaces="+s.ns,
			"--health-probe-bind-address="+at(0), "--metrics-bind-address="+at(1), "--observations-bind-address="+at(2),
			"--cluster-namespace="+observerNamespace, "--write-namespace="+observerNamespace, "--identities-namespace="+observerNamespace),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = o.Stop() })
	return o
}

// grantObserver applies what deploy/ grants to who observes, all of it to accounts in the observer's namespace.
func (s *stage) grantObserver(cluster *lab.Cluster, folder, moved string) {
	s.t.Helper()
	built, err := s.Ask(s.t.Context(), "kustomize", filepath.Join(s.Repository, "test/e2e/testdata/observer", folder))
	if err != nil {
		s.t.Fatal(err)
	}
	manifests := built.Stdout
	for _, namespace := range []string{fixture.WriteNamespace, fixture.RegistrationNamespace, moved} {
		manifests = strings.ReplaceAll(manifests, "namespace: "+namespace+"\n", "namespace: "+observerNamespace+"\n")
	}
	if _, err := s.Feed(s.t.Context(), manifests, "--context", cluster.Name, "apply", "-f", "-"); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) kubeconfigIn(cluster *lab.Cluster, account string) []byte {
	s.t.Helper()
	kubeconfig, err := cluster.AccountKubeconfig(s.t.Context(), observerNamespace, account, 24*time.Hour)
	if err != nil {
		s.t.Fatal(err)
	}
	return kubeconfig
}

// explainedBy waits until the plugin has the observer explain that.
func (s *stage) explainedBy(o *observer, object, words string) {
	s.t.Helper()
	eventually(s.t, object+": "+words, func(ctx context.Context) error {
		said, err := s.Fleetscale(ctx, "explain", object, "-n", s.ns, "--observer", o.address)
		if err == nil && !strings.Contains(said.Stdout, words) {
			err = fmt.Errorf("it says %s", said.Stdout)
		}
		return err
	})
}

// onlyRead fails the test if an account of the observer asked a cluster for anything but to read, and for its rights.
func (s *stage) onlyRead(cluster *lab.Cluster) {
	s.t.Helper()
	asked, err := cluster.Requests()
	if err != nil {
		s.t.Fatal(err)
	}
	asked = slices.DeleteFunc(asked, func(r lab.Request) bool {
		return !strings.HasPrefix(r.User, "system:serviceaccount:"+observerNamespace+":")
	})
	if len(asked) == 0 {
		s.t.Errorf("%s was asked nothing; is it recorded?", cluster.Name)
	}
	for _, r := range asked {
		if !slices.Contains([]string{"get", "list", "watch"}, r.Verb) && r.Resource != "selfsubjectaccessreviews" {
			s.t.Errorf("%s: the observer sent %s %s", cluster.Name, r.Verb, r.URI)
		}
	}
}

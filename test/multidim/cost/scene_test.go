// SPDX-License-Identifier: Apache-2.0

package cost_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	fleetscalev1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
	"github.com/fleetscale/fleetscale/test/sim"
)

const (
	namespaces = 20
	// each namespace has so many workloads, each with a MultidimPodAutoscaler.
	each    = 50
	objects = namespaces * each
	// Of them, one in so many gives Pods their sizes; the others recommend only, which is the default.
	sizing = 4
	// members run two Pods of each workload.
	members, pods = 2, 2

	period   = 30 * time.Second
	patience = 8 * time.Minute
)

// A container uses so much, give or take a tenth, and requests about what is recommended for that. The percentile of such use is in
// the middle of a bucket of the histogram: at an end of one, chance would have the recommendation be another one every minute.
var (
	usage   = sim.Resources{CPU: resource.MustParse("210m"), Memory: resource.MustParse("400Mi")}
	request = sim.Resources{CPU: resource.MustParse("270m"), Memory: resource.MustParse("524Mi")}
)

func namespaceOf(i int) string { return fmt.Sprintf("team-%02d", i/each) }
func nameOf(i int) string      { return fmt.Sprintf("web-%03d", i) }

// scene is a fleet with its workloads.
type scene struct {
	*fixture.Fleet
	members     *sim.Fleet
	hub         client.Client
	controllers *fixture.Controllers
}

// raise has all be there but the controller-manager.
func raise(t *testing.T) *scene {
	t.Helper()
	ctx := t.Context()
	s := &scene{}
	fixture.RaiseFor(t, lab.Options{Hub: lab.Hub{Recorded: []string{"system:serviceaccounts:" + fixture.SystemNamespace}}},
		[]string{"metrics-adapter"}, func(_ context.Context, f *fixture.Fleet, _ map[string]string) error { s.Fleet = f; return nil })
	if err := s.Install(ctx, s.Hub()); err != nil {
		t.Fatal(err)
	}
	s.enlist(t)
	if _, err := s.ServeMetrics(ctx, s.Hub(), "adapter"); err != nil {
		t.Fatal(err)
	}
	s.populate(t)
	return s
}

// enlist registers members, which do about sizes what deploy/member-sizes has them do.
func (s *scene) enlist(t *testing.T) {
	t.Helper()
	var err error
	if s.members, err = sim.New(t.Context(), sim.Options{Members: members}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.members.Close() })
	for _, m := range s.members.Members() {
		policy, binding := &admissionv1.MutatingAdmissionPolicy{}, &admissionv1.MutatingAdmissionPolicyBinding{}
		policy.Name, binding.Name = "sizes.fleetscale.io", "sizes.fleetscale.io"
		kubeconfig, err := m.Kubeconfig()
		err = errors.Join(err, m.Put(policy), m.Put(binding), s.Register(t.Context(), m.Name(), kubeconfig),
			s.RegisterToWrite(t.Context(), m.Name(), kubeconfig))
		if err != nil {
			t.Fatal(err)
		}
		for i := range objects {
			err := m.Run(sim.Workload{Namespace: namespaceOf(i), Name: nameOf(i), Replicas: pods, Request: request, Usage: usage})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// populate has the hub hold the templates of the workloads, and their MultidimPodAutoscalers.
func (s *scene) populate(t *testing.T) {
	t.Helper()
	config, err := s.Hub().RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), appsv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	log.SetLogger(logr.Discard())
	if s.hub, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	for i := range objects {
		if i%each == 0 {
			s.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceOf(i)}})
		}
		s.create(t, deployment(i))
		s.create(t, autoscaler(i))
	}
}

func (s *scene) create(t *testing.T, o client.Object) {
	t.Helper()
	if err := s.hub.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// given is of how many workloads new Pods get a size in a member.
func given(t *testing.T, m *sim.Member) (n int) {
	t.Helper()
	scheme := runtime.NewScheme()
	err := fleetscalev1alpha1.AddToScheme(scheme)
	cluster, failed := client.New(m.RESTConfig(), client.Options{Scheme: scheme})
	var list fleetscalev1alpha1.PodSizesList
	if err = errors.Join(err, failed); err == nil {
		err = cluster.List(t.Context(), &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		n += len(list.Items[i].Workloads)
	}
	return n
}

func deployment(i int) *appsv1.Deployment {
	labels := map[string]string{"app": nameOf(i)}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceOf(i), Name: nameOf(i)}}
	d.Spec.Replicas, d.Spec.Selector, d.Spec.Template.Labels = new(int32(members*pods)), &metav1.LabelSelector{MatchLabels: labels}, labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app", Image: "registry.example.com/web",
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: request.CPU, corev1.ResourceMemory: request.Memory,
		}}}}
	return d
}

func autoscaler(i int) *v1alpha1.MultidimPodAutoscaler {
	m := &v1alpha1.MultidimPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceOf(i), Name: nameOf(i)}}
	m.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: nameOf(i)}
	if i%sizing == 0 {
		m.Spec.Policy.UpdateMode = v1alpha1.UpdateModeRecreate
	}
	return m
}

// reading is how many reconciles of MultidimPodAutoscalers there were, at some time between two: there are many metrics to be read.
type reading struct {
	reconciles     int
	asked, answers time.Time
}

func (s *scene) read(ctx context.Context) (reading, error) {
	r := reading{asked: time.Now()}
	n, err := fixture.Metric(ctx, s.controllers.Metrics(), "fleetscale_mpa_reconcile_duration_seconds_count")
	r.reconciles, r.answers = int(n), time.Now()
	return r, err
}

// awaitReconciles waits until there were so many, and returns how many there were then.
func (s *scene) awaitReconciles(t *testing.T, least int) (r reading) {
	t.Helper()
	err := fixture.Await(t.Context(), patience, func(ctx context.Context) (err error) {
		if r, err = s.read(ctx); err == nil && r.reconciles < least {
			err = fmt.Errorf("there were %d reconciles, and not %d", r.reconciles, least)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

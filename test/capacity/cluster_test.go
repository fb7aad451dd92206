// SPDX-License-Identifier: Apache-2.0

package capacity_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fit"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const patience = 2 * time.Minute

// cluster is a real one, with the scheduler that judges, and the estimator that is judged.
type cluster struct {
	client    kubernetes.Interface
	estimator *capacity.Estimator
	member    mirror.Member
}

// seen is the cluster as the estimator sees it: always there.
type seen struct {
	client  rest.Interface
	reading *connection.Reading
}

func (seen) Name() string                   { return "member1" }
func (seen) State() member.State            { return member.State{Ready: true} }
func (seen) Silence() error                 { return nil }
func (s seen) Client() rest.Interface       { return s.client }
func (s seen) WatchClient() rest.Interface  { return s.client }
func (s seen) Reading() *connection.Reading { return s.reading }

func start(t *testing.T) *cluster {
	t.Helper()
	l, err := lab.Up(t.Context(), lab.Options{
		Dir: t.TempDir(), Log: os.Stderr,
		Members: []lab.Member{{Name: "member1", WithoutMetricsServer: true, WithoutTestAdapter: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Down() })
	client, err := l.Members()[0].Client()
	if err != nil {
		t.Fatal(err)
	}
	store := pods.New(pods.Options{})
	c := &cluster{client: client, estimator: capacity.New(capacity.Options{Pods: store}),
		member: seen{client.CoreV1().RESTClient(), connection.NewReading()}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for _, run := range []func(context.Context) error{store.Run, c.estimator.Run} {
		go func() { ended <- run(ctx) }()
	}
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
	c.furnish(t)
	return c
}

// furnish adds what all scenarios share: a class of priority, and a node that is in none of them, so that there is always
// another domain where a spread counts all nodes.
func (c *cluster) furnish(t *testing.T) {
	t.Helper()
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: patient}, Value: 1000, PreemptionPolicy: new(corev1.PreemptNever)}
	if _, err := c.client.SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	elsewhere := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere",
		Labels: map[string]string{hostname: "elsewhere", zone: "elsewhere"}}}
	if _, err := c.client.CoreV1().Nodes().Create(t.Context(), elsewhere, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// play makes what a scenario says, and returns when the scheduler has tried all of it.
func (c *cluster) play(ctx context.Context, s *scenario) error {
	for _, n := range s.nodes {
		if _, err := c.client.CoreV1().Nodes().Create(ctx, n, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if err := fixture.Await(ctx, patience, func(ctx context.Context) error { return c.nodesAreTainted(ctx, s) }); err != nil {
		return err
	}
	if err := c.createNamespace(ctx, s.name); err != nil {
		return err
	}
	if err := c.schedulerKnowsNodes(ctx, s.name); err != nil {
		return err
	}
	for _, p := range s.pods {
		if err := c.createPod(ctx, s.name, p); err != nil {
			return err
		}
	}
	if err := c.createQuota(ctx, s); err != nil {
		return err
	}
	if _, err := c.client.AppsV1().Deployments(s.name).Create(ctx, s.deployment, metav1.CreateOptions{}); err != nil {
		return err
	}
	return c.settle(ctx, s)
}

// nodesAreTainted waits for what the node controller makes of conditions: a new node is tainted until that has run.
func (c *cluster) nodesAreTainted(ctx context.Context, s *scenario) error {
	for _, want := range s.nodes {
		got, err := c.client.CoreV1().Nodes().Get(ctx, want.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		taints := map[string]bool{}
		for _, t := range got.Spec.Taints {
			taints[t.Key] = true
		}
		lost := want.Status.Conditions[0].Status != corev1.ConditionTrue
		if taints[corev1.TaintNodeNotReady] != lost || taints[corev1.TaintNodeUnschedulable] != want.Spec.Unschedulable {
			return fmt.Errorf("node %s has taints %v", want.Name, got.Spec.Taints)
		}
	}
	return nil
}

// schedulerKnowsNodes waits until the scheduler has seen the nodes as they are now. What it cannot place by an older
// state it says has no node, and places a second later. It learns of nodes in their order, so it knows those before the
// one that it has bound a Pod to.
func (c *cluster) schedulerKnowsNodes(ctx context.Context, namespace string) error {
	name := namespace + "-last"
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"last-of": namespace}}}
	node.Status.Allocatable = corev1.ResourceList{"pods": count(1)}
	if _, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return err
	}
	probe := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	probe.Spec.NodeSelector = node.Labels
	probe.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	probe.Spec.Containers = []corev1.Container{{Name: "main", Image: "none.example/none"}}
	if _, err := c.client.CoreV1().Pods(namespace).Create(ctx, probe, metav1.CreateOptions{}); err != nil {
		return err
	}
	err := fixture.Await(ctx, patience, func(ctx context.Context) error {
		got, err := c.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && got.Spec.NodeName == "" {
			err = errors.New("the scheduler has not bound a Pod to the last node")
		}
		return err
	})
	return errors.Join(err,
		c.client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}),
		c.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}))
}

func (c *cluster) createNamespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := c.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return err
	}
	return fixture.Await(ctx, patience, func(ctx context.Context) error {
		_, err := c.client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// createQuota comes when the Pods of others are there, and ended: after that nothing has the quota counted again, and what
// it is charged is what admission and estimate both go by. The first count may miss the last Pods, and would stay so: a
// quota is counted again when its limits change.
func (c *cluster) createQuota(ctx context.Context, s *scenario) error {
	if s.quota == nil {
		return nil
	}
	quotas := c.client.CoreV1().ResourceQuotas(s.name)
	if _, err := quotas.Create(ctx, s.quota, metav1.CreateOptions{}); err != nil {
		return err
	}
	attempts := 0
	return fixture.Await(ctx, patience, func(ctx context.Context) error {
		attempts++
		patch := fmt.Appendf(nil, `{"spec":{"hard":{"services":%d}}}`, 1000+attempts)
		got, err := quotas.Get(ctx, s.quota.Name, metav1.GetOptions{})
		if used := got.Status.Used[podCount]; err != nil || used.Value() == int64(len(s.pods)) {
			return err
		}
		_, err = quotas.Patch(ctx, s.quota.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		return errors.Join(err, fmt.Errorf("the quota is charged for %v, and there are %d Pods", got.Status.Used, len(s.pods)))
	})
}

const podCount = corev1.ResourceName("count/pods")

func (c *cluster) createPod(ctx context.Context, namespace string, p *corev1.Pod) error {
	phase := p.Status.Phase
	created, err := c.client.CoreV1().Pods(namespace).Create(ctx, p, metav1.CreateOptions{})
	if err != nil || phase == "" || phase == corev1.PodPending {
		return err
	}
	created.Status.Phase = phase
	_, err = c.client.CoreV1().Pods(namespace).UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

// settle waits until the scheduler has bound all Pods or found no node for them, and the Deployment has as many as it
// wants or may have.
func (c *cluster) settle(ctx context.Context, s *scenario) error {
	return fixture.Await(ctx, patience, func(ctx context.Context) error {
		pods, err := c.client.CoreV1().Pods(s.name).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		ours := 0
		for i := range pods.Items {
			p := &pods.Items[i]
			if p.Labels["app"] == "ours" {
				ours++
			}
			if p.Spec.NodeName == "" && !hopeless(p) {
				return fmt.Errorf("pod %s has not been tried", p.Name)
			}
		}
		return c.created(ctx, s, ours, len(pods.Items))
	})
}

func hopeless(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
	})
}

// created reports whether there are as many replicas as there should be, or as the quota lets there be. By the Pods that
// were seen: the quota is charged for one before anybody sees it.
func (c *cluster) created(ctx context.Context, s *scenario, ours, pods int) error {
	scale, err := c.client.AppsV1().Deployments(s.name).GetScale(ctx, s.deployment.Name, metav1.GetOptions{})
	if err != nil || int(scale.Spec.Replicas) == ours {
		return err
	}
	if s.quota != nil {
		if hard := s.quota.Spec.Hard[podCount]; int64(pods) >= hard.Value() {
			return nil
		}
	}
	return fmt.Errorf("there are %d of %d replicas", ours, scale.Spec.Replicas)
}

// bound returns how many replicas have a node.
func (c *cluster) bound(ctx context.Context, s *scenario) (int32, error) {
	pods, err := c.client.CoreV1().Pods(s.name).List(ctx, metav1.ListOptions{LabelSelector: "app=ours"})
	n := int32(0)
	for i := range pods.Items {
		if pods.Items[i].Spec.NodeName != "" {
			n++
		}
	}
	return n, err
}

func (c *cluster) scale(ctx context.Context, s *scenario, to int32) error {
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, to)
	_, err := c.client.AppsV1().Deployments(s.name).Patch(ctx, s.deployment.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "scale")
	return err
}

// estimate asks the estimator, once it has seen what a list says.
func (c *cluster) estimate(ctx context.Context, s *scenario) (capacity.Estimate, error) {
	selector, err := metav1.LabelSelectorAsSelector(s.deployment.Spec.Selector)
	if err != nil {
		return capacity.Estimate{}, err
	}
	w := fit.Workload{Namespace: s.name, Selector: selector, Template: &s.deployment.Spec.Template}
	listed, err := c.fromLists(ctx, w)
	if err != nil {
		return capacity.Estimate{}, err
	}
	var got capacity.Estimate
	err = fixture.Await(ctx, patience, func(ctx context.Context) error {
		if got = c.estimator.Estimate(ctx, c.member, w); !got.Known || got.Additional != listed {
			return fmt.Errorf("estimated %+v, and by lists %d", got, listed)
		}
		return nil
	})
	return got, err
}

// fromLists estimates from what there is now.
func (c *cluster) fromLists(ctx context.Context, w fit.Workload) (int32, error) {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	pods, err := c.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	quotas, err := c.client.CoreV1().ResourceQuotas(w.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	return fit.Estimate(fit.Inventory{
		Nodes: func(yield func(*fit.Node) bool) {
			for i := range nodes.Items {
				if record := fit.NodeOf(&nodes.Items[i]); !yield(&record) {
					return
				}
			}
		},
		Pods: func(yield func(*fit.Pod) bool) {
			for i := range pods.Items {
				if record := fit.PodOf(&pods.Items[i]); !yield(&record) {
					return
				}
			}
		},
		Quotas: quotas.Items,
	}, w), nil
}

// clear takes away what play made. Nobody plays the kubelets of its nodes, so Pods do not end by themselves.
func (c *cluster) clear(ctx context.Context, s *scenario) error {
	errs := []error{c.client.AppsV1().Deployments(s.name).Delete(ctx, s.deployment.Name,
		metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)})}
	for _, n := range s.nodes {
		errs = append(errs, c.client.CoreV1().Nodes().Delete(ctx, n.Name, metav1.DeleteOptions{}))
	}
	for i, err := range errs {
		if apierrors.IsNotFound(err) {
			errs[i] = nil
		}
	}
	errs = append(errs, c.client.CoreV1().Pods(s.name).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))},
		metav1.ListOptions{}))
	return errors.Join(errs...)
}

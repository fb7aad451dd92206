// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"strings"
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// fault is something wrong that is planted between the hub and the members, for the judge to find.
type fault struct {
	cluster func(api) workload.Cluster
	client  func(*hub) client.Client
	hide    bool // silent members are taken for ones that are not registered
	hasty   bool // there is no grace
}

func (p fault) member(a api) workload.Cluster {
	if p.cluster == nil {
		return a
	}
	return p.cluster(a)
}

func (p fault) hub(h *hub) client.Client {
	if p.client == nil {
		return h
	}
	return p.client(h)
}

// tampered is a member that is reached through something that is wrong. What is nil is right.
type tampered struct {
	api
	apply func(ctx context.Context, a api, by claims.Autoscaler,
		hpa *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error)
	delete   func(ctx context.Context, a api, hpa *autoscalingv2.HorizontalPodAutoscaler) error
	setScale func(ctx context.Context, a api, scale *autoscalingv1.Scale) error
	list     func(workload.Autoscalers)
	pods     func(*pods.Listing)
}

func (t tampered) Apply(ctx context.Context, by claims.Autoscaler,
	hpa *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	if t.apply == nil {
		return t.api.Apply(ctx, by, hpa)
	}
	return t.apply(ctx, t.api, by, hpa.DeepCopy())
}

func (t tampered) Delete(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler) error {
	if t.delete == nil {
		return t.api.Delete(ctx, hpa)
	}
	return t.delete(ctx, t.api, hpa)
}

func (t tampered) SetScale(ctx context.Context, of autoscalingv2.CrossVersionObjectReference, scale *autoscalingv1.Scale) error {
	if t.setScale == nil {
		return t.api.SetScale(ctx, of, scale)
	}
	return t.setScale(ctx, t.api, scale)
}

func (t tampered) Autoscalers(ctx context.Context, namespace string) workload.Autoscalers {
	list := t.api.Autoscalers(ctx, namespace)
	if t.list != nil {
		t.list(list)
	}
	return list
}

func (t tampered) Pods(ctx context.Context, namespace string, selector labels.Selector) pods.Listing {
	l := t.api.Pods(ctx, namespace, selector)
	if t.pods != nil {
		t.pods(&l)
	}
	return l
}

// tamper plants t into every member.
func tamper(t tampered) fault {
	return fault{cluster: func(a api) workload.Cluster {
		planted := t
		planted.api = a
		return planted
	}}
}

// applying changes what is applied.
func applying(change func(stored, hpa *autoscalingv2.HorizontalPodAutoscaler)) fault {
	return tamper(tampered{apply: func(ctx context.Context, a api, by claims.Autoscaler,
		hpa *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
		change(a.m.stored()[hpa.Name], hpa)
		return a.Apply(ctx, by, hpa)
	}})
}

// lessens: the maximum becomes less.
func lessens(stored, hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
	return stored != nil && hpa.Spec.MaxReplicas < stored.Spec.MaxReplicas
}

// lossy is a hub whose statuses are stored otherwise than they were written.
type lossy struct {
	*hub
	change func(before, status *v1alpha1.FederatedHPAStatus)
}

func (l lossy) Status() client.SubResourceWriter {
	return lossyWriter{statusWriter{hub: l.hub}, l.change}
}

type lossyWriter struct {
	statusWriter
	change func(before, status *v1alpha1.FederatedHPAStatus)
}

func (l lossyWriter) Update(ctx context.Context, object client.Object, opts ...client.SubResourceUpdateOption) error {
	o := object.(*v1alpha1.FederatedHPA)
	l.change(&l.hub.object.Status, &o.Status)
	return l.statusWriter.Update(ctx, o, opts...)
}

func storing(change func(before, status *v1alpha1.FederatedHPAStatus)) fault {
	return fault{client: func(h *hub) client.Client { return lossy{h, change} }}
}

// planted are faults that the judge must find, each in some of a few scenarios.
var planted = map[string]fault{
	"decreases are written late, after the increases": tamper(tampered{apply: func(ctx context.Context, a api, by claims.Autoscaler,
		hpa *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
		stored := a.m.stored()[hpa.Name]
		if !lessens(stored, hpa) {
			return a.Apply(ctx, by, hpa)
		}
		time.AfterFunc(time.Second, func() { _, _ = a.Apply(context.WithoutCancel(ctx), by, hpa) })
		done := stored.DeepCopy()
		done.Spec = hpa.Spec
		return done, nil
	}}),
	"a decrease is lost": tamper(tampered{apply: func(ctx context.Context, a api, by claims.Autoscaler,
		hpa *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
		stored := a.m.stored()[hpa.Name]
		if !lessens(stored, hpa) {
			return a.Apply(ctx, by, hpa)
		}
		done := stored.DeepCopy()
		done.Spec = hpa.Spec
		return done, nil
	}}),
	"a maximum is one too much": applying(func(_, hpa *autoscalingv2.HorizontalPodAutoscaler) { hpa.Spec.MaxReplicas++ }),
	"a minimum is one too few": applying(func(_, hpa *autoscalingv2.HorizontalPodAutoscaler) {
		hpa.Spec.MinReplicas = new(*hpa.Spec.MinReplicas - 1)
	}),
	"a metric is left out":       applying(func(_, hpa *autoscalingv2.HorizontalPodAutoscaler) { hpa.Spec.Metrics = nil }),
	"nobody is told whose it is": applying(func(_, hpa *autoscalingv2.HorizontalPodAutoscaler) { hpa.Labels = nil }),
	"a hold is never released": applying(func(stored, hpa *autoscalingv2.HorizontalPodAutoscaler) {
		if stored != nil && holds(stored) {
			hpa.Spec.Behavior = stored.Spec.Behavior
		}
	}),
	"nobody is held": applying(func(_, hpa *autoscalingv2.HorizontalPodAutoscaler) {
		if holds(hpa) {
			hpa.Spec.Behavior.ScaleDown.SelectPolicy = new(autoscalingv2.MaxChangePolicySelect)
		}
	}),
	"everything is written twice": tamper(tampered{apply: func(ctx context.Context, a api, by claims.Autoscaler,
		hpa *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
		if _, err := a.Apply(ctx, by, hpa); err != nil {
			return nil, err
		}
		return a.Apply(ctx, by, hpa)
	}}),
	"the replicas are cut to a new maximum": tamper(tampered{apply: func(ctx context.Context, a api, by claims.Autoscaler,
		hpa *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
		stored, err := a.Apply(ctx, by, hpa)
		if scale, failed := a.Scale(ctx, namespace, target); err == nil && failed == nil && scale.Spec.Replicas > hpa.Spec.MaxReplicas {
			scale.Spec.Replicas = hpa.Spec.MaxReplicas
			_ = a.SetScale(ctx, target, scale)
		}
		return stored, err
	}}),
	"the workload goes with its autoscaler": tamper(tampered{delete: func(ctx context.Context, a api,
		hpa *autoscalingv2.HorizontalPodAutoscaler) error {
		if err := a.Delete(ctx, hpa); err != nil {
			return err
		}
		o, err := a.Get(ctx, namespace, target)
		if err != nil {
			return nil //nolint:nilerr // there is none
		}
		return a.Remove(ctx, o)
	}}),
	"an autoscaler that nobody gave is taken": tamper(tampered{list: func(list workload.Autoscalers) {
		for _, hpa := range list.Objects {
			hpa.Annotations = map[string]string{v1alpha1.AdoptByAnnotation: name}
		}
	}}),
	"clusters at zero are never woken": tamper(tampered{setScale: func(ctx context.Context, a api, scale *autoscalingv1.Scale) error {
		if scale.Spec.Replicas > 0 {
			return nil
		}
		return a.SetScale(ctx, target, scale)
	}}),
	"clusters wake with one more than they may run": tamper(tampered{setScale: func(ctx context.Context, a api,
		scale *autoscalingv1.Scale) error {
		if _, upper := a.m.bounds(); scale.Spec.Replicas > 0 {
			scale.Spec.Replicas = upper + 1
		}
		return a.SetScale(ctx, target, scale)
	}}),
	"Pods that wait are not seen": tamper(tampered{pods: func(l *pods.Listing) {
		l.Unschedulable, l.UnschedulableSince = 0,
			time.Time{}
	}}),
	"Pods that run are taken to wait": tamper(tampered{pods: func(l *pods.Listing) {
		l.Unschedulable, l.UnschedulableSince = len(l.Pods),
			time.Now().Add(-time.Hour)
	}}),
	"silent clusters are not counted": {hide: true},
	"there is no grace":               {hasty: true},
	"bounds are not announced": storing(func(before, status *v1alpha1.FederatedHPAStatus) {
		status.Clusters = before.Clusters
	}),
	"what was seen of the spec is forgotten": storing(func(_, status *v1alpha1.FederatedHPAStatus) { status.ObservedGeneration = nil }),
	"since when clusters are silent is forgotten": storing(func(_, status *v1alpha1.FederatedHPAStatus) {
		for i := range status.Clusters {
			if status.Clusters[i].State == v1alpha1.ClusterUnreachable {
				status.Clusters[i].State, status.Clusters[i].Since = v1alpha1.ClusterActive, nil
			}
		}
	}),
}

// Each planted fault is found in one of so many scenarios.
const searched = 120

func TestJudgeFindsPlantedFaults(t *testing.T) {
	for what, plant := range planted {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(searched) {
				if o := scenario(t, *firstSeed+seed, variant{plant: plant}); o.fault != "" {
					t.Logf("after %d scenarios: %s", seed+1, strings.SplitN(o.fault, "\n", 2)[0])
					return
				}
			}
			t.Errorf("not found in %d scenarios", searched)
		})
	}
}

var _ workload.Cluster = tampered{}

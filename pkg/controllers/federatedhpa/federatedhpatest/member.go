// SPDX-License-Identifier: Apache-2.0

package federatedhpatest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// Member is a cluster of which a test sets what is known, and whose workloads can be scaled.
type Member struct {
	workload.Cluster // nil: whatever else is asked for is a panic
	world            *World

	About     assignment.ClusterFacts
	Silent    *fleet.Silence
	Joins     bool
	Offset    time.Duration // of its clock
	Grows     int32         // its headroom
	Workloads map[string]*Workload

	Reads            int          // of scales
	FailGet, FailSet func() error // before a scale is read, or written
	// Reach reports whether a write gets through, and whether its answer gets back; nil: both.
	Reach func(what string) (through bool, err error)
	// Scaled hears of a scale that was written.
	Scaled func(name string, before, after int32)
}

// NewMember lacks all workloads.
func NewMember(w *World, name string) Member {
	return Member{world: w, About: assignment.ClusterFacts{Name: name}, Workloads: map[string]*Workload{},
		Scaled: func(string, int32, int32) {}}
}

// Annotate has its registration say yes to that annotation alone; empty: to none.
func (m *Member) Annotate(annotation string) {
	m.About.Taints, _ = taints.OfAnnotations(map[string]string{annotation: taints.Yes})
}

// Facts returns what is known of it.
func (m *Member) Facts() assignment.ClusterFacts { return m.About }

// Joining reports whether it joins.
func (m *Member) Joining() bool { return m.Joins }

// ClockOffset returns how far its clock is ahead.
func (m *Member) ClockOffset() time.Duration { return m.Offset }

// Headroom returns how far it grows.
func (m *Member) Headroom() int32 { return m.Grows }

// Silence returns why it does not answer.
func (m *Member) Silence() *fleet.Silence {
	m.world.Lock()
	defer m.world.Unlock()
	return m.Silent
}

// Scale reads that of a workload.
func (m *Member) Scale(_ context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference) (*autoscalingv1.Scale, error) {
	m.world.Lock()
	defer m.world.Unlock()
	m.Reads++
	if err := Fault(m.FailGet); err != nil {
		return nil, err
	}
	w := m.Workloads[of.Name]
	if w == nil || namespace != "shop" {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: "apps", Resource: strings.ToLower(of.Kind) + "s"}, of.Name)
	}
	return w.Scale(namespace, of.Name), nil
}

// SetScale writes it.
func (m *Member) SetScale(_ context.Context, of autoscalingv2.CrossVersionObjectReference, to *autoscalingv1.Scale) error {
	m.world.Lock()
	defer m.world.Unlock()
	var lost error
	if m.Reach != nil {
		through, err := m.Reach("scale")
		if lost = err; !through {
			return lost
		}
	}
	if err := Fault(m.FailSet); err != nil {
		return err
	}
	w := m.Workloads[of.Name]
	if w == nil {
		return apierrors.NewNotFound(schema.GroupResource{}, of.Name)
	}
	before := w.Replicas
	if err := w.Set(to); err != nil {
		return err
	}
	w.StatusReplicas = w.Replicas
	m.Scaled(of.Name, before, w.Replicas)
	return lost
}

// Workload is one that can be scaled.
type Workload struct {
	Replicas, StatusReplicas int32
	Selector                 string
	Version                  int
	Writes                   []int32
	Labels                   map[string]string
	UID                      types.UID
	SetBy                    []metav1.ManagedFieldsEntry
}

// NewWorkload is a Deployment of so many replicas, all of which run.
func NewWorkload(name string, n int32) *Workload {
	return &Workload{Replicas: n, StatusReplicas: n, Selector: "app=" + name}
}

// Scale is its scale.
func (w *Workload) Scale(namespace, name string) *autoscalingv1.Scale {
	return &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: strconv.Itoa(w.Version)},
		Spec:       autoscalingv1.ScaleSpec{Replicas: w.Replicas},
		Status:     autoscalingv1.ScaleStatus{Replicas: w.StatusReplicas, Selector: w.Selector},
	}
}

// Set writes its scale if nobody wrote since it was read.
func (w *Workload) Set(to *autoscalingv1.Scale) error {
	if to.ResourceVersion != strconv.Itoa(w.Version) {
		return apierrors.NewConflict(schema.GroupResource{}, to.Name, fmt.Errorf("it is at %d", w.Version))
	}
	w.ByHand(to.Spec.Replicas)
	w.Writes = append(w.Writes, w.Replicas)
	return nil
}

// ByHand is a write of somebody else.
func (w *Workload) ByHand(n int32) {
	w.Version++
	w.Replicas = n
}

// SPDX-License-Identifier: Apache-2.0

package soak_test

import (
	"context"
	"errors"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// stored is what the hub holds besides MultidimPodAutoscalers.
type stored struct {
	histories map[types.UID][]*v1alpha1.MultidimPodAutoscalerHistory // by owner
	version   int
}

// errKilled is what a leader that was killed hears.
var errKilled = errors.New("it was killed")

// hub is what one leader sees of the hub. Whatever else it calls is a panic.
type hub struct {
	client.Client
	*leader
}

func (h hub) Status() client.SubResourceWriter { return statuses{leader: h.leader} }

type statuses struct {
	client.SubResourceWriter
	*leader
}

func (s statuses) Update(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	return s.call(func() error {
		s.byName[o.GetName()].object.Status = *o.(*v1alpha1.MultidimPodAutoscaler).Status.DeepCopy()
		return nil
	})
}

func (h hub) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch into := into.(type) {
	case *v1alpha1.MultidimPodAutoscaler:
		h.byName[key.Name].object.DeepCopyInto(into)
	case *unstructured.Unstructured:
		into.Object = h.byName[key.Name].deployment()
	default:
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	return nil
}

// List finds nothing but histories: nobody else scales anything.
func (h hub) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	saved, is := list.(*v1alpha1.MultidimPodAutoscalerHistoryList)
	if !is {
		return nil
	}
	asked := client.ListOptions{}
	asked.ApplyOptions(options)
	owner, _ := asked.LabelSelector.RequiresExactMatch(v1alpha1.ManagedByLabel)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.histories[types.UID(owner)] {
		saved.Items = append(saved.Items, *one.DeepCopy())
	}
	return nil
}

func (h hub) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	return h.call(func() error { h.put(o.(*v1alpha1.MultidimPodAutoscalerHistory)); return nil })
}

func (h hub) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	return h.call(func() error { h.put(o.(*v1alpha1.MultidimPodAutoscalerHistory)); return nil })
}

// Patch writes finalizers.
func (h hub) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
	return h.call(func() error {
		h.byName[o.GetName()].object.Finalizers = slices.Clone(o.GetFinalizers())
		return nil
	})
}

func (s *stored) put(o *v1alpha1.MultidimPodAutoscalerHistory) {
	s.version++
	o.ResourceVersion = strconv.Itoa(s.version)
	if o.UID == "" {
		o.UID = uidOf(2, s.version)
	}
	owner := types.UID(o.Labels[v1alpha1.ManagedByLabel])
	all := slices.DeleteFunc(s.histories[owner], func(h *v1alpha1.MultidimPodAutoscalerHistory) bool { return h.Name == o.Name })
	s.histories[owner] = append(all, o.DeepCopy())
}

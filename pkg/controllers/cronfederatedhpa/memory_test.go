// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims/index"
)

// memory is a hub of a few objects: what a program may call, and no more. As
// on a real one, a write holds only if nobody wrote since.
type memory struct {
	client.WithWatch // nil: all else is a panic
	objects          map[string]client.Object
	autoscalers      map[string]client.Object // those that can be listed
	version          int
}

func newMemory(objects ...client.Object) *memory {
	m := &memory{objects: map[string]client.Object{}, autoscalers: map[string]client.Object{}}
	for _, o := range objects {
		m.put(o.DeepCopyObject().(client.Object))
	}
	return m
}

func (m *memory) put(o client.Object) {
	m.version++
	o.SetResourceVersion(strconv.Itoa(m.version))
	name := nameOf(o, client.ObjectKeyFromObject(o))
	m.objects[name] = o
	switch o.(type) {
	case *v1alpha1.FederatedHPA, *v1alpha1.MultidimPodAutoscaler, *autoscalingv2.HorizontalPodAutoscaler:
		m.autoscalers[name] = o
	}
}

func nameOf(o client.Object, key client.ObjectKey) string { return fmt.Sprintf("%T %s", o, key) }

func (m *memory) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	found, ok := m.objects[nameOf(into, key)]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: fmt.Sprintf("%T", into)}, key.Name)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found.DeepCopyObject()).Elem())
	return nil
}

func (m *memory) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(opts)
	for _, o := range m.autoscalers {
		if name, _ := asked.FieldSelector.RequiresExactMatch(index.ByName); asked.Namespace != o.GetNamespace() ||
			!slices.Contains(index.Names(o), name) {
			continue
		}
		switch into := list.(type) {
		case *v1alpha1.FederatedHPAList:
			if f, ok := o.(*v1alpha1.FederatedHPA); ok {
				into.Items = append(into.Items, *f)
			}
		case *v1alpha1.MultidimPodAutoscalerList:
			if m, ok := o.(*v1alpha1.MultidimPodAutoscaler); ok {
				into.Items = append(into.Items, *m)
			}
		case *autoscalingv2.HorizontalPodAutoscalerList:
			if h, ok := o.(*autoscalingv2.HorizontalPodAutoscaler); ok {
				into.Items = append(into.Items, *h)
			}
		}
	}
	return nil
}

// write replaces an object as it was read.
func (m *memory) write(o client.Object) error {
	before, ok := m.objects[nameOf(o, client.ObjectKeyFromObject(o))]
	switch {
	case !ok:
		return apierrors.NewNotFound(schema.GroupResource{}, o.GetName())
	case before.GetResourceVersion() != o.GetResourceVersion():
		return apierrors.NewConflict(schema.GroupResource{}, o.GetName(), errors.New("somebody wrote since"))
	}
	m.put(o.DeepCopyObject().(client.Object))
	return nil
}

// Patch takes all of the object: a patch of ours holds only for what was read.
func (m *memory) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
	return m.write(o)
}

func (m *memory) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	return m.write(o)
}

func (m *memory) Status() client.SubResourceWriter            { return statusOf{memory: m} }
func (m *memory) SubResource(string) client.SubResourceClient { return statusOf{memory: m} }

// statusOf writes the status only.
type statusOf struct {
	client.SubResourceClient
	memory *memory
}

func (s statusOf) Update(ctx context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	cron := o.(*v1alpha1.CronFederatedHPA)
	stored := &v1alpha1.CronFederatedHPA{}
	if err := s.memory.Get(ctx, client.ObjectKeyFromObject(o), stored); err != nil {
		return err
	}
	stored.Status, stored.ResourceVersion = cron.Status, cron.ResourceVersion
	return s.memory.write(stored)
}

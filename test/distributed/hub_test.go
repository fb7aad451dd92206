// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// hub is the API server of the hub, with one object.
type hub struct {
	client.Client // nil: whatever else is called is a panic
	fleet         *fleet

	version  int
	object   *v1alpha1.FederatedHPA // nil: there is none any more
	template bool                   // it has the workload, too
	fails    bool                   // the next write of a status is refused
	statuses int                    // written so far
}

var federatedHPAs = schema.GroupResource{Group: v1alpha1.GroupName, Resource: "federatedhpas"}

// put stores the object as a person writes it.
func (h *hub) put(object *v1alpha1.FederatedHPA) {
	h.version++
	object.ResourceVersion = versionOf(h.version)
	h.object = object
}

// edit changes the spec.
func (h *hub) edit(change func(*v1alpha1.FederatedHPASpec)) {
	object := h.object.DeepCopy()
	change(&object.Spec)
	object.Generation++
	h.put(object)
}

// statusOf is what the object's status says of a member.
func (h *hub) statusOf(m *member) v1alpha1.ClusterStatus {
	for _, c := range h.object.Status.Clusters {
		if c.Name == m.name {
			return c
		}
	}
	return v1alpha1.ClusterStatus{}
}

// read is the object as a controller has it from a cache.
func (h *hub) read() *v1alpha1.FederatedHPA {
	h.fleet.lock.Lock()
	defer h.fleet.lock.Unlock()
	object := h.object.DeepCopy()
	v1alpha1.DefaultFederatedHPA(object)
	return object
}

// write changes what is stored, if nobody has since it was read.
func (h *hub) write(wanted *v1alpha1.FederatedHPA, anyVersion bool, change func(stored *v1alpha1.FederatedHPA)) error {
	h.fleet.lock.Lock()
	defer h.fleet.lock.Unlock()
	switch {
	case h.fleet.dead:
		return context.Canceled
	case h.object == nil || h.object.UID != wanted.UID:
		return apierrors.NewNotFound(federatedHPAs, wanted.Name)
	case !anyVersion && wanted.ResourceVersion != h.object.ResourceVersion:
		return apierrors.NewConflict(federatedHPAs, wanted.Name, errors.New("somebody wrote since"))
	}
	after := h.object.DeepCopy()
	change(after)
	if !equality.Semantic.DeepEqual(after, h.object) { // a write that changes nothing makes no version
		h.put(after)
	}
	if after.DeletionTimestamp != nil && len(after.Finalizers) == 0 {
		h.object = nil
	}
	after.DeepCopyInto(wanted)
	return nil
}

func (h *hub) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if h.fleet.isDead() {
		return context.Canceled
	}
	switch into := into.(type) {
	case *v1alpha1.FederatedHPA:
		if h.object == nil {
			return apierrors.NewNotFound(federatedHPAs, name)
		}
		h.read().DeepCopyInto(into)
	case *unstructured.Unstructured:
		if !h.template {
			return apierrors.NewNotFound(deployments, name)
		}
		into.Object = templateWithReplicas(3).Object
	default:
		h.fleet.judge.fail("the hub is asked for a %T", into)
	}
	return nil
}

func (h *hub) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	wanted := object.(*v1alpha1.FederatedHPA)
	text, err := patch.Data(object)
	if err != nil {
		return err
	}
	asked := v1alpha1.FederatedHPA{}
	must(json.Unmarshal(text, &asked))
	read := wanted.DeepCopy()
	read.ResourceVersion = asked.ResourceVersion
	err = h.write(read, asked.ResourceVersion == "", func(stored *v1alpha1.FederatedHPA) { merge(stored, text) })
	if err == nil {
		read.DeepCopyInto(wanted)
	}
	return err
}

func (h *hub) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	wanted := object.(*v1alpha1.FederatedHPA)
	meta := wanted.ObjectMeta.DeepCopy()
	return h.write(wanted, false, func(stored *v1alpha1.FederatedHPA) {
		stored.Finalizers, stored.Labels, stored.Annotations = meta.Finalizers, meta.Labels, meta.Annotations
	})
}

func (h *hub) Status() client.SubResourceWriter { return statusWriter{hub: h} }

type statusWriter struct {
	client.SubResourceWriter
	hub *hub
}

func (s statusWriter) Update(_ context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	h, wanted := s.hub, object.(*v1alpha1.FederatedHPA)
	if h.fails {
		h.fails = false
		return apierrors.NewInternalError(errors.New("the hub is not well"))
	}
	text, err := json.Marshal(wanted.Status)
	must(err)
	err = h.write(wanted, false, func(stored *v1alpha1.FederatedHPA) {
		stored.Status = v1alpha1.FederatedHPAStatus{}
		must(json.Unmarshal(text, &stored.Status)) // times lose what JSON has no place for
		h.statuses++
	})
	if f := h.fleet; f.crash != nil && f.crash.afterStatus {
		f.dead = true
	}
	return err
}

// merge is RFC 7386, of a patch of metadata.
func merge(stored *v1alpha1.FederatedHPA, patch []byte) {
	text, err := json.Marshal(stored)
	must(err)
	var document, change any
	must(json.Unmarshal(text, &document))
	must(json.Unmarshal(patch, &change))
	text, err = json.Marshal(merged(document, change))
	must(err)
	*stored = v1alpha1.FederatedHPA{}
	must(json.Unmarshal(text, stored))
}

func merged(document, patch any) any {
	change, isObject := patch.(map[string]any)
	if !isObject {
		return patch
	}
	result, _ := document.(map[string]any)
	if result == nil {
		result = map[string]any{}
	}
	for key, value := range change {
		if value == nil {
			delete(result, key)
			continue
		}
		result[key] = merged(result[key], value)
	}
	return result
}

// recorder counts what is said of the object.
type recorder struct{ fleet *fleet }

var _ events.EventRecorder = recorder{}

func (r recorder) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	r.fleet.judge.heard(reason, note, args...)
}

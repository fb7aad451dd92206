// SPDX-License-Identifier: Apache-2.0

package hubclient

import (
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
)

// Events logs what would be told to the owners of objects: Events beside those of the controller that acts would mislead them.
type Events struct{ Log logr.Logger }

var _ events.EventRecorder = Events{}

// Eventf logs one Event.
func (e Events) Eventf(regarding, _ runtime.Object, kind, reason, action, note string, args ...any) {
	object := klog.ObjectRef{}
	if reference, is := regarding.(*corev1.ObjectReference); is {
		object = klog.KRef(reference.Namespace, reference.Name)
	} else if accessor, err := meta.Accessor(regarding); err == nil {
		object = klog.KRef(accessor.GetNamespace(), accessor.GetName())
	}
	e.Log.V(2).Info("Would send an Event", "object", object, "type", kind, "reason", reason, "action", action,
		"note", fmt.Sprintf(note, args...))
}

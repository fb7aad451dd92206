// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/speccopy"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

const (
	// ReasonSpecCut: the object has lost fields, and its owner has not removed them.
	ReasonSpecCut = "SpecCut"
	// EventSpecRestored: fields that the object had lost are there again.
	EventSpecRestored = "SpecRestored"

	// restorer owns in managedFields what was restored, until [Recorder.Disown]: who applies could never remove it otherwise.
	restorer = FieldManager + "-restore"
	// actionRestore is the action of Events.
	actionRestore = "Restore"
)

// Keep leaves an object as it is that has lost fields, as [served.Cut] says, and reports it in the status, in an Event and in the
// log. Then it restores the fields, as far as the object has a copy of them, and reports whether it did. live is the hub itself: a
// cache may show what the hub hid for a while.
func (r *Recorder) Keep(ctx context.Context, live client.Reader, cached *v1alpha1.FederatedHPA, now time.Time) (restored bool, err error) {
	object, err := r.reread(ctx, live, cached)
	if err != nil {
		return false, err
	}
	lost := served.Cut(object)
	if len(lost) == 0 {
		return false, Conflict(object, "its fields have been restored")
	}
	whole := object.DeepCopy()
	missing := served.Restore(whole)
	known := summary.Condition(&object.Status, autoscalingv2.AbleToScale).Reason == ReasonSpecCut
	switch {
	case !known: // that comes first: who restores may fail
		klog.FromContext(ctx).Info("Detected dropped fields of FederatedHPA, so nothing is scaled", "lost", lost, "missing", missing)
	case len(missing) < len(lost):
		err = r.restore(ctx, object, whole)
	}
	switch {
	case apierrors.IsConflict(err):
		return false, err
	case !known, err != nil, len(missing) > 0:
		return false, r.Refuse(ctx, object, ReasonSpecCut, cutMessage(lost, missing, err), actionRestore, now)
	}
	r.Event(object, Event{Type: corev1.EventTypeNormal, Reason: EventSpecRestored, Message: "restored from the annotation " +
		v1alpha1.SpecAnnotation + ": " + inSpec(lost)}, actionRestore)
	return true, nil
}

// reread returns the object as the hub stores it, with its defaults.
func (r *Recorder) reread(ctx context.Context, live client.Reader, cached *v1alpha1.FederatedHPA) (*v1alpha1.FederatedHPA, error) {
	object := &v1alpha1.FederatedHPA{}
	err := live.Get(ctx, client.ObjectKeyFromObject(cached), object)
	switch {
	case apierrors.IsNotFound(err), err == nil && object.UID != cached.UID:
		return nil, Conflict(cached, "it has been deleted")
	case err != nil:
		return nil, fmt.Errorf("reading it from the hub itself: %w", err)
	}
	r.Saw(object)
	v1alpha1.DefaultFederatedHPA(object)
	return object, nil
}

// restore writes the fields that the object lacks and the whole one has, provided nobody has changed the object.
func (r *Recorder) restore(ctx context.Context, object, whole *v1alpha1.FederatedHPA) error {
	patch := client.MergeFromWithOptions(object.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if err := r.hub.Patch(ctx, whole, patch, client.FieldOwner(restorer)); err != nil {
		return err
	}
	r.written(object, whole)
	if still := served.Cut(whole); len(still) > 0 { // or it would be retried without end
		return fmt.Errorf("%s: the hub, or a policy of it, drops them from what is written", inSpec(still))
	}
	return nil
}

// Copy has the object keep a copy of its fields, provided nobody has changed it. It is of what the hub itself stores, without
// defaults: a default that is only in the copy would count as lost.
func (r *Recorder) Copy(ctx context.Context, live client.Reader, cached *v1alpha1.FederatedHPA) error {
	object := &v1alpha1.FederatedHPA{}
	if err := live.Get(ctx, client.ObjectKeyFromObject(cached), object); err != nil {
		return fmt.Errorf("reading it from the hub itself: %w", err)
	}
	if object.ResourceVersion != cached.ResourceVersion {
		return Conflict(cached, "it has been changed")
	}
	sent := object.DeepCopy()
	speccopy.Keep(sent, speccopy.Of(object))
	patch := client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{})
	if err := r.hub.Patch(ctx, sent, patch, client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("writing its annotation %s: %w", v1alpha1.SpecAnnotation, err)
	}
	cached.Annotations = sent.Annotations
	r.written(cached, sent)
	return nil
}

// Restored reports whether we still own fields of the object that were restored.
func Restored(object *v1alpha1.FederatedHPA) bool {
	return slices.ContainsFunc(object.ManagedFields, ByRestorer)
}

// Disown leaves what was restored to those who own it besides us. Where nobody does, we own it as what else we write: a list of
// nobody would be taken for none that was sent.
func (r *Recorder) Disown(ctx context.Context, live client.Reader, cached *v1alpha1.FederatedHPA) error {
	object, err := r.reread(ctx, live, cached)
	if err != nil {
		return err
	}
	sent := object.DeepCopy()
	if slices.ContainsFunc(sent.ManagedFields, byOthers) {
		sent.ManagedFields = slices.DeleteFunc(sent.ManagedFields, ByRestorer)
	}
	for i := range sent.ManagedFields {
		if entry := &sent.ManagedFields[i]; ByRestorer(*entry) {
			entry.Manager = FieldManager
		}
	}
	patch := client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{})
	if err := r.hub.Patch(ctx, sent, patch, client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("leaving restored fields to their owners: %w", err)
	}
	r.Saw(sent)
	return Conflict(object, "it has been read again")
}

// ByRestorer reports whether an entry is of what was restored.
func ByRestorer(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == restorer }

func byOthers(entry metav1.ManagedFieldsEntry) bool {
	return entry.Subresource == "" && !ByRestorer(entry)
}

func cutMessage(lost, missing []string, err error) string {
	message := fmt.Sprintf("dropped without an edit: %s. The hub drops fields that its schema of the kind lacks, as Karmada's does. Nothing "+
		"is scaled, and the HorizontalPodAutoscalers in the clusters are left unchanged. ", inSpec(lost))
	const without = "to do without a field, set it once more and then remove it"
	switch {
	case err != nil:
		return message + fmt.Sprintf("They could not be restored from the annotation %s: %v; %s", v1alpha1.SpecAnnotation, err, without)
	case len(missing) > 0:
		return message + "Apply the manifest of this FederatedHPA again; " + without
	default:
		return message + "They are restored from the annotation " + v1alpha1.SpecAnnotation
	}
}

func inSpec(fields []string) string { return "spec." + strings.Join(fields, ", spec.") }

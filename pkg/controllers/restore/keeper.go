// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/speccopy"
)

const (
	// ReasonSpecCut is that of a condition and an Event: the object has lost fields, and its owner has not removed them.
	ReasonSpecCut = "SpecCut"
	// EventSpecRestored: fields that the object had lost are there again.
	EventSpecRestored = "SpecRestored"
	// Action is the action of Events.
	Action = "Restore"

	// bySuffix makes a field manager the one that restores: it owns what was restored, until that is given back.
	bySuffix = "-restore"
)

// Keeper keeps the objects of a kind whole. T is the pointer to its type S.
type Keeper[S any, T interface {
	*S
	client.Object
}] struct {
	// Hub writes. Live reads from the hub's API server itself: a cache may show what the hub hid for a while.
	Hub  client.Writer
	Live client.Reader
	// Manager is the field manager of what is written.
	Manager string
	// Kind and Resource are the kind, as its objects and as errors name it.
	Kind, Resource string
	// Rests says what is not done for an object that has lost fields.
	Rests string
	// Observes is for a program that writes nothing: it tells of what is lost, and does not restore it.
	Observes bool
	// Saw is told of objects as the hub has them.
	Saw func(T)
	// Told reports whether the status of an object says that it has lost fields. Tell has it say so, and says it in an Event.
	Told func(T) bool
	Tell func(ctx context.Context, object T, message string) error
	// Restored is told what was restored.
	Restored func(object T, message string)
}

// Keep leaves an object as it is that has lost fields, as [served.Cut] says, and reports it in the status, in an Event and in the
// log. Then it restores the fields, as far as the object has a copy of them, and reports whether it did. A conflict means that the
// object was changed since it was cached.
func (k *Keeper[S, T]) Keep(ctx context.Context, cached T) (restored bool, err error) {
	object, err := k.read(ctx, cached)
	if err != nil {
		return false, err
	}
	lost := served.Cut(object)
	if len(lost) == 0 {
		return false, k.conflict(object, "its fields have been restored")
	}
	whole := object.DeepCopyObject().(T)
	missing := served.Restore(whole)
	known := k.Told(object)
	switch {
	case !known: // that comes first: who restores may fail
		klog.FromContext(ctx).Info("Detected dropped fields of the spec, so the object is not acted on", "lost", lost, "missing", missing)
	case !k.Observes && len(missing) < len(lost):
		err = k.restore(ctx, object, whole)
	}
	switch {
	case apierrors.IsConflict(err):
		return false, err
	case !known, err != nil, len(missing) > 0, k.Observes:
		return false, k.Tell(ctx, object, k.message(lost, missing, err))
	}
	k.Restored(object, "restored from the annotation "+v1alpha1.SpecAnnotation+": "+inSpec(lost))
	return true, nil
}

// read returns the object as the hub stores it: defaults would hide what was dropped.
func (k *Keeper[S, T]) read(ctx context.Context, known T) (T, error) {
	object := T(new(S))
	err := k.Live.Get(ctx, client.ObjectKeyFromObject(known), object)
	switch {
	case apierrors.IsNotFound(err), err == nil && object.GetUID() != known.GetUID():
		return nil, k.conflict(known, "it has been deleted")
	case err != nil:
		return nil, fmt.Errorf("reading it from the hub itself: %w", err)
	}
	k.Saw(object)
	return object, nil
}

// restore writes the fields that the object lacks and the whole one has, provided nobody has changed the object, and leaves them to
// those who owned them: who writes a field takes it from all others, and what nobody owns would be taken for removed.
func (k *Keeper[S, T]) restore(ctx context.Context, object, whole T) error {
	patch := client.MergeFromWithOptions(object.DeepCopyObject().(T), client.MergeFromWithOptimisticLock{})
	if err := k.Hub.Patch(ctx, whole, patch, client.FieldOwner(k.Manager+bySuffix)); err != nil {
		return err
	}
	stored, err := k.read(ctx, object) // what was dropped again is still in what was sent
	if err != nil {
		return err
	}
	object.SetResourceVersion(stored.GetResourceVersion())
	if still := served.Cut(stored); len(still) > 0 { // or it would be retried without end
		return fmt.Errorf("%s: the hub, or a policy of it, drops them from what is written", inSpec(still))
	}
	if stored.GetResourceVersion() != whole.GetResourceVersion() {
		return nil // who wrote since may own other fields than before
	}
	owned := stored.DeepCopyObject().(T)
	owned.SetManagedFields(object.GetManagedFields())
	patch = client.MergeFromWithOptions(stored, client.MergeFromWithOptimisticLock{})
	if err := k.Hub.Patch(ctx, owned, patch, client.FieldOwner(k.Manager)); err != nil {
		klog.FromContext(ctx).V(2).Info("Could not give restored fields back to their owners, so who applies does not remove them", "err", err)
		return nil
	}
	k.wrote(object, owned)
	return nil
}

// Copy has the object keep a copy of its fields, provided nobody has changed it, which is a conflict. It is of what the hub itself
// stores, without defaults: a default that is only in the copy would count as lost.
func (k *Keeper[S, T]) Copy(ctx context.Context, cached T) error {
	object, err := k.read(ctx, cached)
	if err != nil {
		return err
	}
	if object.GetResourceVersion() != cached.GetResourceVersion() {
		return k.conflict(cached, "it has been changed")
	}
	sent := object.DeepCopyObject().(T)
	speccopy.Keep(sent, speccopy.Of(object))
	patch := client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{})
	const writing = "writing its annotation " + v1alpha1.SpecAnnotation
	switch err := k.Hub.Patch(ctx, sent, patch, client.FieldOwner(k.Manager)); {
	case apierrors.IsConflict(err) && k.unchanged(ctx, cached): // some webhooks always say that another was faster
		return fmt.Errorf("%s: %s", writing, err.Error())
	case err != nil:
		return fmt.Errorf("%s: %w", writing, err)
	}
	cached.SetAnnotations(sent.GetAnnotations())
	k.wrote(cached, sent)
	if !speccopy.Agrees(sent) { // or it would be written again and again, and nothing else be done
		return fmt.Errorf("%s: the hub, or a policy of it, does not keep what is written", writing)
	}
	return nil
}

func (k *Keeper[S, T]) unchanged(ctx context.Context, cached T) bool {
	object, err := k.read(ctx, cached)
	return err == nil && object.GetResourceVersion() == cached.GetResourceVersion()
}

func (k *Keeper[S, T]) wrote(object, after T) {
	k.Saw(after)
	object.SetResourceVersion(after.GetResourceVersion())
}

// conflict is the error for an object that was changed since it was read.
func (k *Keeper[S, T]) conflict(object T, why string) error {
	return apierrors.NewConflict(v1alpha1.Resource(k.Resource), object.GetName(), errors.New(why))
}

func (k *Keeper[S, T]) message(lost, missing []string, err error) string {
	message := fmt.Sprintf("dropped without an edit: %s. The hub drops fields that its schema of the kind lacks, as Karmada's does. %s. ",
		inSpec(lost), k.Rests)
	const without = "to do without a field, set it once more and then remove it"
	switch {
	case err != nil:
		return message + fmt.Sprintf("They could not be restored from the annotation %s: %v; %s", v1alpha1.SpecAnnotation, err, without)
	case len(missing) > 0:
		return message + fmt.Sprintf("Apply the manifest of this %s again; %s", k.Kind, without)
	case k.Observes:
		return message + "This program only observes, and does not restore them"
	default:
		return message + "They are restored from the annotation " + v1alpha1.SpecAnnotation
	}
}

func inSpec(fields []string) string { return "spec." + strings.Join(fields, ", spec.") }

// ByKeeper reports whether an entry is of what was restored, and not given back.
func ByKeeper(entry metav1.ManagedFieldsEntry) bool {
	return strings.HasSuffix(entry.Manager, bySuffix)
}

// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/hub/configmap"
	"github.com/fleetscale/fleetscale/pkg/registration/watcher"
)

// IdentitiesName is that of the ConfigMap beside the registration Secrets which records who is established as which cluster.
const IdentitiesName = "fleetscale-identities"

// ledger is what is known of that ConfigMap.
type ledger struct {
	// read is true once it was read, or found not to exist.
	read bool
	// waived is true when it is no longer waited for.
	waived bool
	// stored is what was read. It exists if somebody records: without a controller-manager nobody does.
	stored  configmap.Stored
	trouble *fleet.Silence // why it cannot be read at present
}

// known is true once nothing more is to be expected of the record for now.
func (l *ledger) known() bool { return l.read || l.waived }

// awaited says what is waited for, and why.
func (l *ledger) awaited() string {
	const what = "the record of identities"
	if l.trouble != nil {
		return fmt.Sprintf("%s (%s)", what, l.trouble)
	}
	return what
}

// followLedger keeps what is recorded until ctx ends.
func (r *Registry) followLedger(ctx context.Context) {
	watcher.Named{
		Hub: r.options.HubDynamic, Resource: corev1.SchemeGroupVersion.WithResource("configmaps"),
		Namespace: r.options.Namespace, Name: IdentitiesName, What: "the record of identities",
	}.Follow(ctx,
		func(object *unstructured.Unstructured) { r.ledgerRead(ctx, object) },
		func(trouble *fleet.Silence) { r.ledgerFailed(ctx, trouble) })
}

// ledgerRead files what is recorded. It goes before what this program has seen itself.
func (r *Registry) ledgerRead(ctx context.Context, object *unstructured.Unstructured) {
	l := ledger{read: true, stored: configmap.Of(object)}
	r.mu.Lock()
	l.waived = r.ledger.waived
	r.ledger = l
	r.recorded = decode(l.stored.Data)
	r.established = r.established.under(r.recorded)
	fx := r.arrange(ctx)
	fx.add(r.update(ctx))
	r.mu.Unlock()
	r.carryOut(ctx, fx)
}

func (r *Registry) ledgerFailed(ctx context.Context, trouble *fleet.Silence) {
	r.mu.Lock()
	before := r.ledger.trouble
	r.ledger.trouble = trouble
	r.mu.Unlock()
	if trouble != nil && (before == nil || before.Reason != trouble.Reason) {
		klog.FromContext(ctx).Info("Could not read which registrations are established, so a restart forgets that and replicas may differ",
			"configMap", klog.KRef(r.options.Namespace, IdentitiesName), "reason", trouble.Reason, "message", trouble.Detail)
	}
}

// waive ends the wait for the record: after a start it is waited for as long as for a member, once the registrations are known.
func (r *Registry) waive(ctx context.Context) {
	if !sleep(ctx, r.options.Connections.Timeout) {
		return
	}
	r.mu.Lock()
	r.ledger.waived = true
	fx := r.update(ctx)
	r.mu.Unlock()
	r.carryOut(ctx, fx)
}

const (
	// recordAfter is how long changes are collected before they are recorded.
	recordAfter = 200 * time.Millisecond
	// recordAgain is the wait after a failure.
	recordAgain = 5 * time.Second
)

// Record has the hub keep who is established until ctx ends, for other programs and for those that come after this one. Only one
// program may do so at a time.
func (r *Registry) Record(ctx context.Context) error {
	var trouble *fleet.Silence
	for sleep(ctx, recordAfter) {
		err := r.save(ctx)
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			err = nil // somebody else wrote it: what was written is about to be read
		}
		silence := fleet.Unanswered(err)
		if silence != nil && (trouble == nil || trouble.Reason != silence.Reason) && ctx.Err() == nil {
			klog.FromContext(ctx).Info("Could not record which registrations are established",
				"configMap", klog.KRef(r.options.Namespace, IdentitiesName), "reason", silence.Reason, "message", silence.Detail)
		}
		if trouble = silence; trouble != nil && !sleep(ctx, recordAgain) {
			break
		}
		if trouble == nil {
			r.awaitUnsaved(ctx)
		}
	}
	return nil
}

// awaitUnsaved returns when there may be something to record.
func (r *Registry) awaitUnsaved(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-r.unsaved:
	}
}

// save writes what the record lacks, unless somebody wrote it since it was read.
func (r *Registry) save(ctx context.Context) error {
	r.mu.Lock()
	l, ready := r.ledger, r.settled && r.ledger.read
	var want map[string]string
	if ready {
		want = r.established.encode(l.stored.Data)
	}
	r.mu.Unlock()
	if !ready || l.stored.Exists && maps.Equal(want, l.stored.Data) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.Connections.Timeout)
	defer cancel()
	name := types.NamespacedName{Namespace: r.options.Namespace, Name: IdentitiesName}
	return configmap.Write(ctx, r.options.Hub, name, l.stored, want)
}

// gone is true for the key of a registration that the hub has no longer. It is not while its source is watched and not served.
func (r *Registry) gone(key string) bool {
	source, _, _ := strings.Cut(key, "/")
	return r.knows(source)
}

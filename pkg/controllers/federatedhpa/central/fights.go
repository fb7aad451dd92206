// SPDX-License-Identifier: Apache-2.0

package central

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/setback"
)

// fight is how the replicas that are written in one place, the hub or a cluster, are set back.
type fight = setback.Record[int32]

// storyOf says who fights where, and what to do.
func storyOf(f fight, target, where string) string {
	return fmt.Sprintf("the replicas of %s %s were set back from %d to %d, %s, or when the spec or the replicas change: have that leave "+
		"spec.replicas alone", target, where, f.To, f.From, f.Story())
}

// onTheHub is the place of the workload on the hub, beside the names of clusters.
const onTheHub = ""

// seeFights notes where the replicas that were written have been set back. A cluster where they are each time keeps what it has, and
// others take what it does not; if that is so wherever they could be written, nothing is.
func (m *Mode) seeFights(ctx context.Context, in *situation, memory *Memory) {
	target := workload.Describe(in.Object.Spec.ScaleTargetRef)
	before := memory.fights
	memory.fights = map[string]fight{}
	see := func(place string, n int32, read func() (*unstructured.Unstructured, error)) (f fight, paused bool) {
		f = before[place].Sees(n, in.Object.Generation, in.Now)
		if f.Pauses(before[place]) {
			f.By = fighter(ctx, read)
		}
		memory.fights[place] = f
		return f, f.Paused(in.Now)
	}
	if !in.inMembers {
		read := func() (*unstructured.Unstructured, error) { return sight.OnHub(ctx, m.Live, in.Object) }
		if f, paused := see(onTheHub, in.hub.Spec.Replicas, read); paused {
			in.undone = sight.Undone{Reason: record.ReasonScaleUndone, Message: storyOf(f, target, "on the hub")}
		}
		return
	}
	var undone []string
	free := false
	for p := range sight.Pointers(in.parts) {
		if !p.writable() {
			if f, known := before[p.Facts.Name]; known {
				memory.fights[p.Facts.Name] = f
			}
			continue
		}
		read := func() (*unstructured.Unstructured, error) {
			ctx, cancel := context.WithTimeout(ctx, m.Fleet.Timeout)
			defer cancel()
			return p.Member.Get(ctx, in.Object.Namespace, in.Object.Spec.ScaleTargetRef)
		}
		f, paused := see(p.Facts.Name, p.Scale.Spec.Replicas, read)
		if !paused {
			free = true
			continue
		}
		message := storyOf(f, target, "in cluster "+p.Facts.Name)
		undone = append(undone, message)
		p.state, p.reason, p.message = v1alpha1.ClusterConflict, record.ReasonScaleUndone, message
	}
	if len(undone) > 0 && !free {
		in.undone = sight.Undone{Reason: record.ReasonScaleUndone, Message: strings.Join(undone, "; ")}
	}
}

// fighter reads who set the replicas back.
func fighter(ctx context.Context, read func() (*unstructured.Unstructured, error)) string {
	found, err := read()
	if err == nil && found == nil {
		err = errors.New("it is gone")
	}
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Could not read who sets the replicas back", "err", err)
		return ""
	}
	return setback.WhoSet(found.GetManagedFields(), record.FieldManager, "replicas")
}

// fought notes what was written, to know whether it is set back.
func (m *Memory) fought(o *outcome) {
	write := func(place string, from, to int32) {
		m.fights[place] = m.fights[place].Writes(from, to, o.Object.Generation, o.Now)
	}
	if o.toldHub {
		write(onTheHub, o.hub.Spec.Replicas, o.Replicas)
	}
	for _, p := range o.written {
		if p.err == nil {
			write(p.Facts.Name, *p.assigned, *p.to)
		}
	}
}

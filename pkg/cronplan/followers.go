// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// Followers are what is known of how the clusters follow a workload on the hub, which somebody else propagates to them.
type Followers struct {
	// Unread is why it is not known which clusters there are; nil: it is.
	Unread error
	// Selected is how many clusters may have the workload; 0: the hub is all there is.
	Selected int
	// Silent are those that did not say whether they have it.
	Silent []string
	// Replicas are what it specifies in each cluster that has it.
	Replicas []int32
	// OnHub is how many replicas the hub's own status has: of Pods there, or as whoever propagates the workload counts them.
	OnHub int32
	// Before is what it specified in all clusters before the hub was told; nil: that is not known.
	Before *int32
}

// Sum is what the workload specifies in all clusters; nil: one did not say.
func (f Followers) Sum() *int32 {
	if len(f.Silent) > 0 {
		return nil
	}
	return new(f.said())
}

func (f Followers) said() int32 {
	sum := int64(0)
	for _, n := range f.Replicas {
		sum += int64(n)
	}
	return int32(min(sum, math.MaxInt32))
}

// Missing returns what keeps a run from having changed anything although the hub was told: no cluster follows. It is nil as soon
// as one does, or where nobody has to.
func (f Followers) Missing(ref autoscalingv2.CrossVersionObjectReference, told int32) *Trouble {
	if f.Unread != nil {
		return &Trouble{Reason: reasonNotPropagated, Message: fmt.Sprintf("%s %q on the hub specifies %d replicas, and which clusters follow is "+
			"not known: %v", ref.Kind, ref.Name, told, f.Unread)}
	}
	sum := f.Sum()
	all := len(f.Replicas) > 0 && !slices.ContainsFunc(f.Replicas, func(n int32) bool { return n != told })
	switch {
	case f.Selected == 0, f.OnHub == told && told > 0, f.said() == told && (told > 0 || sum != nil), all && sum != nil:
		return nil
	case sum != nil && f.Before != nil && *sum != *f.Before:
		return nil // it is on its way
	}
	message := fmt.Sprintf("%s %q on the hub specifies %d replicas, and those in the %d selected clusters %d in total",
		ref.Kind, ref.Name, told, f.Selected, f.said())
	if len(f.Silent) > 0 {
		message += fmt.Sprintf(" (%s did not answer)", strings.Join(f.Silent, ", "))
	}
	return &Trouble{Reason: reasonNotPropagated, Message: message + ": have it propagated to them and its replicas divided, as Karmada " +
		"does, or delete it on the hub, and the replicas are set in the clusters that have it"}
}

// SPDX-License-Identifier: Apache-2.0

package member

import (
	"fmt"
	"slices"
	"strings"
)

// Settled is nil once the sources were read and each registered cluster was
// contacted, failed its deadline, or was refused. Until then the error names
// who is awaited, and an answer could lack a cluster without anybody knowing.
// Once nil it stays nil: a cluster that joins later must not take us out of service.
func (r *Registry) Settled() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if awaited := r.settle(); len(awaited) > 0 {
		return fmt.Errorf("waiting for %s", strings.Join(awaited, "; "))
	}
	return nil
}

// settle notes when nothing is awaited any more: from then on names and
// identities stay with whom they are established. Until then it says what is awaited.
func (r *Registry) settle() (awaited []string) {
	if r.settled {
		return nil
	}
	if !r.synced[fromSecret] {
		awaited = append(awaited, r.secrets.awaited())
	}
	if !r.synced[fromKarmada] {
		awaited = append(awaited, r.karmada.awaited())
	}
	if !r.hub.tried {
		awaited = append(awaited, "the hub's identity")
	}
	if names := r.uncontacted(); len(names) > 0 {
		awaited = append(awaited, "first contact with "+strings.Join(names, ", "))
	}
	r.settled = len(awaited) == 0
	return awaited
}

func (r *Registry) uncontacted() []string {
	var names []string
	for _, e := range r.entries {
		if e.shown.silence.Reason == ReasonNotContacted {
			names = append(names, e.member.name)
		}
	}
	slices.Sort(names)
	return names
}

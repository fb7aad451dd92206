// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// OOMKill is the last time that a container was killed because it needed more memory than it had, as long as its status
// tells of it: that forgets a kill once the container has ended in other ways.
type OOMKill struct {
	Container string
	// Restarts is how often the container has been restarted until now. It rises after the kill, not always at the same moment.
	Restarts int32
	// StartedAt and FinishedAt are when that run of the container began and ended, by its node's clock, in whole seconds. Zero: its
	// status does not say.
	StartedAt, FinishedAt time.Time
}

// Same reports whether both are one kill: a reader that remembers the last one it saw knows a new one by that.
func (k OOMKill) Same(as OOMKill) bool {
	if k.FinishedAt.IsZero() && as.FinishedAt.IsZero() {
		return k.Container == as.Container && k.Restarts == as.Restarts
	}
	return k.Container == as.Container && k.FinishedAt.Equal(as.FinishedAt)
}

// oomKill is an OOMKill as it is kept.
type oomKill struct {
	container, restarts int32 // container is a place among those of the Pod's sizes
	started, finished   instant
}

// oomKilled is the reason that kubelets give.
const oomKilled = "OOMKilled"

// oomKillsOf are nil for nearly all Pods. Of several statuses of a container, the first counts.
func oomKillsOf(p *corev1.Pod) (all []oomKill) {
	if len(p.Spec.Containers) > mostContainers {
		return nil
	}
	for i := range p.Status.ContainerStatuses {
		s := &p.Status.ContainerStatuses[i]
		kill := s.State.Terminated
		if kill == nil || kill.Reason != oomKilled {
			kill = s.LastTerminationState.Terminated
		}
		if kill == nil || kill.Reason != oomKilled {
			continue
		}
		at := int32(slices.IndexFunc(p.Spec.Containers, func(c corev1.Container) bool { return c.Name == s.Name }))
		if at >= 0 && !slices.ContainsFunc(all, func(k oomKill) bool { return k.container == at }) {
			all = append(all, oomKill{at, s.RestartCount, instantOf(kill.StartedAt), instantOf(kill.FinishedAt)})
		}
	}
	return all
}

// oomKillsIn are those of a Pod of these containers.
func oomKillsIn(kept []oomKill, containers []Container) []OOMKill {
	if kept == nil {
		return nil
	}
	all := make([]OOMKill, 0, len(kept))
	for _, k := range kept {
		all = append(all, OOMKill{containers[k.container].Name, k.restarts, k.started.time(), k.finished.time()})
	}
	return all
}

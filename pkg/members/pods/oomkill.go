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
	// Supposed is true if the status does not say why, but only that it was by SIGKILL: some nodes do not notice what their kernel
	// did, but anyone may have sent it.
	Supposed bool
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
	supposed            bool
}

// What kubelets say of a container that was killed for want of memory: the reason, or where they do not know it, these two.
const (
	oomKilled = "OOMKilled"
	failed    = "Error"
	sigkilled = 128 + 9
)

// oomKillsOf are nil for nearly all Pods. Of several statuses of a container, the first counts.
func oomKillsOf(p *corev1.Pod) (all []oomKill) {
	if len(p.Spec.Containers) > mostContainers {
		return nil
	}
	for i := range p.Status.ContainerStatuses {
		s := &p.Status.ContainerStatuses[i]
		kill, supposed := killIn(s)
		if kill == nil {
			continue
		}
		at := int32(slices.IndexFunc(p.Spec.Containers, func(c corev1.Container) bool { return c.Name == s.Name }))
		if at >= 0 && !slices.ContainsFunc(all, func(k oomKill) bool { return k.container == at }) {
			all = append(all, oomKill{at, s.RestartCount, instantOf(kill.StartedAt), instantOf(kill.FinishedAt), supposed})
		}
	}
	return all
}

// killIn is the last one that a status tells of. One for sure comes before one that is supposed: what it hides now is told of
// once the container has been started again.
func killIn(s *corev1.ContainerStatus) (kill *corev1.ContainerStateTerminated, supposed bool) {
	ends := [...]*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated}
	for _, end := range ends {
		if end != nil && end.Reason == oomKilled {
			return end, false
		}
	}
	for _, end := range ends {
		if end != nil && end.Reason == failed && end.ExitCode == sigkilled {
			return end, true
		}
	}
	return nil, false
}

// oomKillsIn are those of a Pod of these containers.
func oomKillsIn(kept []oomKill, containers []Container) []OOMKill {
	if kept == nil {
		return nil
	}
	all := make([]OOMKill, 0, len(kept))
	for _, k := range kept {
		all = append(all, OOMKill{containers[k.container].Name, k.restarts, k.started.time(), k.finished.time(), k.supposed})
	}
	return all
}

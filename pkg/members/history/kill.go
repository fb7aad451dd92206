// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"sort"
	"time"

	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

// noteKills counts the kills that were not seen before.
func (s *share) noteKills(at time.Time, listed []pods.SizedPod, measured []hubmetrics.PodUses, room *room, f *Fed) {
	s.meetKilled(at, listed, room, f)
	for n := range listed {
		p := &listed[n]
		for _, kill := range p.OOMKills {
			place, found := search(s.instances, p.Name, kill.Container)
			if !found {
				continue // there was no room, or it does not count
			}
			i := &s.instances[place]
			i.seen = at.Unix()
			c := containerOf(p, kill.Container)
			if kill.Supposed && !i.ranOut(kill, c.Limits.Memory) {
				continue
			}
			if i.learn(kill, at, measured, room.known(at)) {
				i.OOM(&i.of.use, had(p, c), at)
				f.Kills = append(f.Kills, Kill{i.pod, i.of.name})
			}
		}
	}
}

// meetKilled adds the instances that were killed for sure before they were measured. They are put in order once, as a member may
// tell of very many.
func (s *share) meetKilled(at time.Time, listed []pods.SizedPod, room *room, f *Fed) {
	known := len(s.instances)
	for n := range listed {
		for _, kill := range listed[n].OOMKills {
			if kill.Supposed {
				continue // there is nothing to judge it by
			}
			if _, found := search(s.instances[:known], listed[n].Name, kill.Container); !found &&
				room.admits(kill.Container) && s.append(listed[n].Name, kill.Container, at, room) < 0 {
				f.Ignored++
			}
		}
	}
	if len(s.instances) == known {
		return
	}
	slices.SortFunc(s.instances, func(a, b instance) int { return a.compare(b.pod, b.of.name) })
	met := len(s.instances)
	s.instances = slices.CompactFunc(s.instances, func(a, b instance) bool { return a.is(b.pod, b.of.name) }) // killed twice
	room.instances += met - len(s.instances)
}

// learn remembers a kill, and reports whether it is to be counted. Older ones are known.
func (i *instance) learn(kill pods.OOMKill, at time.Time, measured []hubmetrics.PodUses, older time.Duration) bool {
	if i.kill != nil && i.kill.Same(kill) {
		return false
	}
	counted := i.kill == nil && !i.listed && i.of.since.Before(at) && happened(i.pod, kill, measured) > older
	kill.Container = i.of.name
	i.kill = &kill
	return !counted
}

// told is how long a kill may have happened before somebody saw it.
const told = 2 * time.Minute

// known is the age of kills that were counted, of Pods that are listed for the first time since a start, or a long silence: before the
// history was saved that was loaded, or a day ago, when the cluster was last seen.
func (r *room) known(at time.Time) time.Duration {
	if r.saved.IsZero() {
		return unseen
	}
	return min(unseen, at.Sub(r.saved)+told)
}

// happened is how long a kill was before its Pod was measured; 0 if that is not known. Both times are of the member, and so their distance
// does not depend on whether its clock is right.
func happened(pod string, kill pods.OOMKill, measured []hubmetrics.PodUses) time.Duration {
	n := sort.Search(len(measured), func(n int) bool { return measured[n].Name >= pod })
	if n == len(measured) || measured[n].Name != pod || measured[n].Measured.IsZero() || kill.FinishedAt.IsZero() {
		return 0
	}
	return measured[n].Measured.Sub(kill.FinishedAt)
}

// containerOf is what the spec of the Pod says of a container.
func containerOf(p *pods.SizedPod, name string) pods.Container {
	for i := range p.Containers {
		if p.Containers[i].Name == name {
			return p.Containers[i]
		}
	}
	nothing := pods.Resources{MilliCPU: pods.None, Memory: pods.None}
	return pods.Container{Name: name, Requests: nothing, Limits: nothing}
}

// had is how much memory a container requested as it was killed: what its spec says, or less if that has not come to be. Otherwise each
// kill while a resize is waited for would have more asked for than the last, whatever the container uses.
func had(p *pods.SizedPod, c pods.Container) int64 {
	for i := range p.Actual {
		if a := &p.Actual[i]; a.Name == c.Name && a.Requests.Memory >= 0 {
			return min(a.Requests.Memory, c.Requests.Memory)
		}
	}
	return c.Requests.Memory
}

// memoryUse is how many bytes were measured, and when, in seconds by the member's clock. Zero: they were not.
type memoryUse struct{ bytes, at int64 }

// note remembers the last two: by the time that a kill is told of, the next run of the container may have been measured.
func (i *instance) note(bytes int64, measured time.Time) {
	if bytes > 0 {
		i.used = [2]memoryUse{{bytes, measured.Unix()}, i.used[0]}
	}
}

// nearly is how far below its limit a container may have been measured that then ran out of memory: a twentieth of the limit.
const nearly = 20

// ranOut reports whether a kill that is only supposed was for want of memory: when the run that ended so was last measured, it used
// nearly all that it may have. Without a limit, or a sample of that run, it was not.
func (i *instance) ranOut(kill pods.OOMKill, limit int64) bool {
	if limit <= 0 || kill.StartedAt.IsZero() {
		return false
	}
	for _, used := range i.used {
		if kill.StartedAt.Unix() <= used.at && used.at <= kill.FinishedAt.Unix() {
			return used.bytes >= limit-limit/nearly
		}
	}
	return false
}

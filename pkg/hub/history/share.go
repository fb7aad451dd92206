// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// share is what is known of an object in one cluster.
type share struct {
	cluster    string
	asked      bool // it counted in the last pass
	silent     bool // but it did not say all
	containers []*container
	instances  []instance // in order of Pods and containers
}

// container is what the containers of one name used.
type container struct {
	name  string
	use   sizes.Use
	since time.Time // when this process first met it; zero if it was loaded
}

// instance is one container of one Pod.
type instance struct {
	sizes.Instance

	pod  string
	of   *container
	kill *pods.OOMKill // the last one seen; nil for nearly all
	seen int64         // when it was last listed or measured, in seconds
	// listed is true once its Pod was listed: a kill that comes afterwards is a new one.
	listed bool
}

// unseen is after what time a container of a Pod is forgotten while its cluster does not list Pods. By then its peaks are final.
const unseen = 24 * time.Hour

func (i *instance) compare(pod, container string) int {
	if i.pod != pod {
		return strings.Compare(i.pod, pod)
	}
	return strings.Compare(i.of.name, container)
}

func (i *instance) is(pod, container string) bool { return i.pod == pod && i.of.name == container }

func (s *share) feed(at time.Time, u hubmetrics.ClusterUses, l pods.SizedListing, room *room) Fed {
	listed := l.Known && l.Silent == nil
	s.silent = u.Outcome != hubmetrics.Answered || !listed
	f := Fed{Cluster: s.cluster, Silent: s.silent}
	measured := sorted(u.Pods, byPod)
	s.measure(at, measured, room, &f)
	inOrder := sorted(l.Pods, byListed)
	s.noteKills(at, inOrder, measured, room, &f)
	if listed {
		s.list(at, inOrder)
	}
	s.forget(at, !s.silent)
	return f
}

// measure adds the samples. The Pods are in order, as the instances are.
func (s *share) measure(at time.Time, measured []hubmetrics.PodUses, room *room, f *Fed) {
	next, known := 0, len(s.instances)
	for n := range measured {
		p := &measured[n]
		for _, c := range sorted(p.Containers, byContainer) {
			if c.MilliCPU == hubmetrics.None && c.Memory == hubmetrics.None {
				continue
			}
			for next < known && !s.instances[next].is(p.Name, c.Name) && s.instances[next].compare(p.Name, c.Name) < 0 {
				next++
			}
			place := next
			if next == known || !s.instances[next].is(p.Name, c.Name) {
				if !room.admits(c.Name) {
					continue
				}
				if place = s.append(p.Name, c.Name, at, room); place < 0 {
					f.Ignored++
					continue
				}
			}
			i := &s.instances[place]
			i.seen = at.Unix()
			if i.Add(&i.of.use, sizes.Sample{Amounts: sizes.Amounts{c.MilliCPU, c.Memory}, At: at, Measured: p.Measured}) {
				f.Samples++
			} else {
				f.Repeats++
			}
		}
	}
	if len(s.instances) > known {
		slices.SortFunc(s.instances, func(a, b instance) int { return a.compare(b.pod, b.of.name) })
	}
}

// append adds an instance as the last, out of order. It returns its place, or -1 if there is no room.
func (s *share) append(pod, name string, at time.Time, room *room) int {
	place, found := s.find(name)
	if room.instances <= 0 || !found && room.uses <= 0 {
		return -1
	}
	if !found {
		room.uses--
		s.containers = slices.Insert(s.containers, place, &container{name: strings.Clone(name), since: at})
	}
	room.instances--
	n := len(s.instances)
	if n > 0 && s.instances[n-1].pod == pod {
		pod = s.instances[n-1].pod
	} else {
		pod = strings.Clone(pod) // it may be a part of a whole answer
	}
	s.instances = append(s.instances, instance{pod: pod, of: s.containers[place], seen: at.Unix()})
	return n
}

func (s *share) find(name string) (place int, found bool) {
	return slices.BinarySearchFunc(s.containers, name, func(c *container, name string) int { return cmp.Compare(c.name, name) })
}

func search(instances []instance, pod, name string) (place int, found bool) {
	place = sort.Search(len(instances), func(n int) bool { return instances[n].compare(pod, name) >= 0 })
	return place, place < len(instances) && instances[place].is(pod, name)
}

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
			if i.learn(kill, at, measured) {
				i.OOM(&i.of.use, requested(p, kill.Container), at)
				f.Kills = append(f.Kills, Kill{i.pod, i.of.name})
			}
		}
	}
}

// meetKilled adds the instances that were killed before they were measured. They are put in order once, as a member may tell
// of very many.
func (s *share) meetKilled(at time.Time, listed []pods.SizedPod, room *room, f *Fed) {
	known := len(s.instances)
	for n := range listed {
		for _, kill := range listed[n].OOMKills {
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

// learn remembers a kill, and reports whether it is to be counted.
func (i *instance) learn(kill pods.OOMKill, at time.Time, measured []hubmetrics.PodUses) bool {
	if i.kill != nil && i.kill.Same(kill) {
		return false
	}
	counted := i.kill == nil && !i.listed && i.of.since.Before(at) && pastDay(i.pod, kill, measured)
	kill.Container = i.of.name
	i.kill = &kill
	return !counted
}

// pastDay reports whether a kill was more than a day before its Pod was measured. Of a Pod that is listed for the first time since
// a start, or a long silence, it was counted before then, in a day that is over; kills of the running day are not saved. Both times
// are of the member, and so their distance does not depend on whether its clock is right.
func pastDay(pod string, kill pods.OOMKill, measured []hubmetrics.PodUses) bool {
	n := sort.Search(len(measured), func(n int) bool { return measured[n].Name >= pod })
	if n == len(measured) || measured[n].Name != pod || measured[n].Measured.IsZero() || kill.FinishedAt.IsZero() {
		return false
	}
	return measured[n].Measured.Sub(kill.FinishedAt) > unseen
}

// requested is how much memory a container of the Pod requests, or None.
func requested(p *pods.SizedPod, name string) int64 {
	for i := range p.Containers {
		if p.Containers[i].Name == name {
			return p.Containers[i].Requests.Memory
		}
	}
	return sizes.None
}

// list notes which instances are there. The Pods are in order, as the instances are.
func (s *share) list(at time.Time, listed []pods.SizedPod) {
	next, now := 0, at.Unix()
	for n := range s.instances {
		i := &s.instances[n]
		for next < len(listed) && listed[next].Name != i.pod && listed[next].Name < i.pod {
			next++
		}
		if next == len(listed) {
			return
		}
		if listed[next].Name != i.pod {
			continue
		}
		i.listed = true
		if i.seen != now && has(listed[next].Containers, i.of.name) {
			i.seen = now
		}
	}
}

func has(containers []pods.Container, name string) bool {
	for i := range containers {
		if containers[i].Name == name {
			return true
		}
	}
	return false
}

// forget drops the containers of Pods that are gone: neither listed nor measured in a cluster that did say.
func (s *share) forget(at time.Time, said bool) {
	now, kept := at.Unix(), 0
	for n := range s.instances {
		if seen := s.instances[n].seen; seen != now && (said || now-seen > int64(unseen/time.Second)) {
			continue
		}
		if kept != n {
			s.instances[kept] = s.instances[n]
		}
		kept++
	}
	clear(s.instances[kept:])
	s.instances = s.instances[:kept]
}

// expire drops the containers to which nothing was added for long, and reports whether there are any.
func (s *share) expire(at time.Time) bool {
	stale := func(c *container) bool {
		last := c.use.Last
		if c.since.After(last) {
			last = c.since
		}
		return at.Sub(last) > keep
	}
	if !slices.ContainsFunc(s.containers, stale) {
		return false
	}
	s.instances = slices.DeleteFunc(s.instances, func(i instance) bool { return stale(i.of) })
	s.containers = slices.DeleteFunc(s.containers, stale)
	return true
}

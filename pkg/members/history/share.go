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
	used [2]memoryUse  // the last one first
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
				i.note(c.Memory, p.Measured)
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

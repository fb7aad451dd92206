// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// story is a cluster that is observed once in a minute.
type story struct {
	Past
	now       time.Time
	admission Admission
	policy    Policy
	replicas  int
	pods      []Running
}

// begin is a story of Pods of these UIDs, which was observed so often that nothing is waited for.
func begin(uids ...string) *story {
	s := &story{now: noon, policy: policy(), replicas: len(uids)}
	s.admission = Admission{Sizes: []NewContainer{{"app", Resources{Amounts{200, 1000}, none()}}}, Written: noon.Add(-time.Hour), Version: "1"}
	s.arrive(uids...)
	s.look()
	s.look()
	s.look()
	return s
}

// arrive adds Pods that have what they should, and were created so.
func (s *story) arrive(uids ...string) {
	for _, uid := range uids {
		p := running(uid)
		p.UID, p.Sized, p.Containers[0].Requests = uid, true, Amounts{200, 1000}
		p.Containers[0].Actual = p.Containers[0].Resources
		s.pods = append(s.pods, p)
	}
}

func (s *story) leave(uids ...string) {
	s.pods = slices.DeleteFunc(s.pods, func(p Running) bool { return slices.Contains(uids, p.UID) })
}

func (s *story) pod(uid string) *Running {
	return &s.pods[slices.IndexFunc(s.pods, func(p Running) bool { return p.UID == uid })]
}

// look observes the cluster, a minute later.
func (s *story) look() ClusterPods {
	s.now = s.now.Add(time.Minute)
	c := clusterOf("east", s.pods...)
	c.Settled, c.Replicas = false, s.replicas
	s.Observe(&c, s.admission, s.policy, s.now)
	return c
}

func (s *story) evict(uid string) { s.Sent(Move{Pod: s.pod(uid), Way: WayEvict}) }

// turn is what counts of a cluster for others, and for how many Pods may be disrupted.
func turn(c ClusterPods) string {
	marked := ""
	for _, p := range c.Pods {
		if p.Evicted {
			marked += " " + p.UID
		}
	}
	return fmt.Sprintf("gone %d evicting %t evicted%s", c.Gone, c.Evicting, marked)
}

func (s *story) expect(t *testing.T, want string) {
	t.Helper()
	if got := turn(s.look()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// An eviction counts until the Pod is replaced, and the cluster's turn lasts until what replaces it was Ready.
func TestEvictionsAreFollowed(t *testing.T) {
	s := begin("a", "b", "c")
	s.expect(t, "gone 0 evicting false evicted")
	s.evict("a")
	s.expect(t, "gone 0 evicting true evicted a") // not seen to go yet
	s.leave("a")
	s.expect(t, "gone 1 evicting true evicted")
	s.arrive("d")
	s.pod("d").Ready = false
	s.expect(t, "gone 0 evicting true evicted")
	s.arrive("e") // for load, meanwhile
	s.replicas++
	s.pod("e").Ready = false
	s.pod("d").Ready = true
	s.expect(t, "gone 0 evicting true evicted")
	s.pod("e").Ready = true
	s.expect(t, "gone 0 evicting false evicted")
	s.pod("d").Ready = false // later
	s.expect(t, "gone 0 evicting false evicted")
}

// A Pod that is created for another reason does not replace one, nor is one waited for that is not wanted any longer.
func TestReplicasMoveMeanwhile(t *testing.T) {
	s := begin("a", "b", "c")
	s.evict("a")
	s.evict("b")
	s.leave("a", "b")
	s.replicas = 5
	s.arrive("d", "e")
	s.expect(t, "gone 2 evicting true evicted")
	s.replicas = 4
	s.expect(t, "gone 1 evicting true evicted")
	s.replicas = 2
	s.expect(t, "gone 0 evicting false evicted")
}

// A cluster that takes evictions and does nothing, or whose new Pods never become Ready, keeps its turn for a while only.
func TestATurnEnds(t *testing.T) {
	t.Run("the Pod stays", func(t *testing.T) {
		s := begin("a", "b", "c")
		s.evict("a")
		for range 9 {
			s.expect(t, "gone 0 evicting true evicted a")
		}
		c := s.look()
		if got := turn(c); got != "gone 0 evicting false evicted" || !c.Pods[0].NotBefore.After(s.now) {
			t.Errorf("%s, not evicted before %v", got, c.Pods[0].NotBefore)
		}
	})
	t.Run("its successor is never Ready", func(t *testing.T) {
		s := begin("a", "b", "c")
		s.evict("a")
		s.leave("a")
		s.arrive("d")
		s.pod("d").Ready = false
		for range 60 {
			s.expect(t, "gone 0 evicting true evicted")
		}
		s.expect(t, "gone 0 evicting false evicted")
	})
}

func TestObserve(t *testing.T) {
	s := &story{now: noon, policy: policy(), replicas: 1, admission: begin("a").admission}
	s.arrive("a")
	for look, want := range []ClusterPods{{Scaling: true}, {Settled: true}, {Settled: true}} {
		if got := s.look(); got.Scaling != want.Scaling || got.Settled != want.Settled {
			t.Errorf("look %d: scaling %t, settled %t", look, got.Scaling, got.Settled)
		}
	}
	s.replicas = 2
	if !s.look().Scaling || s.look().Scaling {
		t.Error("a cluster scales for one minute after its replicas changed")
	}
	silent := clusterOf("east")
	silent.Silent, silent.Replicas = true, 7
	if s.Observe(&silent, s.admission, s.policy, s.now); silent.Scaling {
		t.Error("of a silent cluster something was learned")
	}
	if !s.look().Scaling || s.look().Scaling {
		t.Error("in a silence replicas may have moved")
	}
	c := clusterOf("east", s.pods...)
	c.Replicas, c.Scaling = 2, true
	if s.Observe(&c, s.admission, s.policy, s.now); !c.Scaling {
		t.Error("it scales, as its caller knows, and is said not to")
	}
	s.Sent(Move{Pod: &Running{UID: "who"}, Way: WayEvict})
	s.Refused(Move{Pod: &Running{UID: "who"}}, s.now)
	s.expect(t, "gone 0 evicting false evicted")
}

// After a restart the Pods that are not Ready may be those that replace others: they are waited for, but not for good.
func TestARestartDoesNotTakeTheTurnAway(t *testing.T) {
	s := &story{now: noon, policy: policy(), replicas: 2}
	s.arrive("a", "b")
	s.pod("a").Ready = false
	for range 10 {
		s.expect(t, "gone 0 evicting true evicted")
	}
	s.expect(t, "gone 0 evicting false evicted")
}

func TestAdmits(t *testing.T) {
	bare := func(p *Running) { p.Sized = false }
	other := func(p *Running) { p.Containers[0].Requests[CPU]-- }
	type look struct {
		change   func(*Running) // of the new Pod; nil: there is none
		outdated bool
		version  string
	}
	as := func(*Running) {}
	for name, c := range map[string]struct {
		looks []look
		want  bool
	}{
		"nothing new":              {[]look{{}}, true},
		"one without":              {[]look{{change: bare}}, true},
		"two without":              {[]look{{change: bare}, {change: bare}}, false},
		"with another size":        {[]look{{change: other}, {change: other}}, false},
		"one between has it":       {[]look{{change: bare}, {change: as}, {change: bare}}, true},
		"one after two has it":     {[]look{{change: bare}, {change: bare}, {change: as}}, false},
		"of an old template":       {[]look{{change: bare}, {change: bare, outdated: true}}, true},
		"something has changed":    {[]look{{change: bare}, {change: bare}, {version: "2"}}, true},
		"two without, after that":  {[]look{{version: "2"}, {change: bare}, {change: bare}}, false},
		"created while it changed": {[]look{{change: bare}, {change: bare, version: "2"}, {change: bare}}, true},
		"its limit cuts it": {[]look{{change: func(p *Running) {
			p.Containers[0].Requests[CPU], p.Containers[0].Limits[CPU] = 150, 150
		}}, {change: func(p *Running) { p.Containers[0].Limits[CPU] = 200 }}}, true},
		"another limit than is written": {[]look{{change: bare}, {change: func(p *Running) { p.Containers[0].Name = "other" }}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, got := begin("a", "b"), ClusterPods{}
			for n, l := range c.looks {
				if l.version != "" {
					s.admission.Version = l.version
				}
				if l.change != nil {
					s.arrive(fmt.Sprint("new", n))
					p := &s.pods[len(s.pods)-1]
					p.Outdated = l.outdated
					l.change(p)
				}
				got = s.look()
			}
			if got.Admits != c.want || s.Ineffective() == c.want {
				t.Errorf("admits: %t, want %t; ineffective: %t", got.Admits, c.want, s.Ineffective())
			}
		})
	}
	t.Run("written limits", func(t *testing.T) {
		p := running("a")
		p.Sized, p.Containers[0].Limits = true, Amounts{None, 2000}
		so := []NewContainer{{"app", Resources{Amounts{100, None}, Amounts{None, 2000}}}}
		if !p.created(so) {
			t.Error("it was not created so")
		}
		if so[0].Limits[Memory]++; p.created(so) {
			t.Error("its limit is another")
		}
	})
	for name, change := range map[string]func(*story, *ClusterPods){
		"not installed":          func(_ *story, c *ClusterPods) { c.Admits = false },
		"nothing is written":     func(s *story, _ *ClusterPods) { s.admission.Sizes = nil },
		"not written yet":        func(s *story, _ *ClusterPods) { s.admission.Written = time.Time{} },
		"written a moment ago":   func(s *story, _ *ClusterPods) { s.admission.Written = s.now.Add(-10*time.Second + 1) },
		"written ten second ago": func(s *story, _ *ClusterPods) { s.admission.Written = s.now.Add(-10 * time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			s := begin("a")
			c := clusterOf("east", s.pods...)
			change(s, &c)
			s.Observe(&c, s.admission, s.policy, s.now)
			if want := name == "written ten second ago"; c.Admits != want {
				t.Errorf("admits: %t, want %t", c.Admits, want)
			}
		})
	}
	t.Run("created before it was settled", func(t *testing.T) {
		s := begin("a")
		s.admission.Written = s.now.Add(time.Minute - 1)
		s.look()
		s.arrive("b", "c")
		s.pod("b").Sized, s.pod("c").Sized = false, false
		if s.look(); s.Ineffective() {
			t.Error("they may have been created before")
		}
	})
}

// What a node could not give is not asked for again, until the node is another.
func TestRefusedSizes(t *testing.T) {
	infeasible := func(c ClusterPods, uid string) Amounts {
		return c.Pods[slices.IndexFunc(c.Pods, func(p Running) bool { return p.UID == uid })].Infeasible
	}
	s := begin("a", "b")
	if got := infeasible(s.look(), "a"); got != none() {
		t.Errorf("infeasible %v, and nothing was refused", got)
	}
	s.pod("a").Resize = ResizeInfeasible
	s.look()
	s.pod("a").Resize = ResizeNone
	s.pod("b").Resize, s.pod("b").ResizeSince = ResizeDeferred, s.now
	s.Sent(Move{Pod: s.pod("b"), Way: WayWithdraw})
	s.pod("b").Resize = ResizeNone
	s.pod("b").Containers[0].Requests = Amounts{50, 500}
	c := s.look()
	if a, b := infeasible(c, "a"), infeasible(c, "b"); a != (Amounts{200, 1000}) || b != (Amounts{200, 1000}) {
		t.Errorf("infeasible %v and %v, want what was asked for", a, b)
	}
	s.pod("a").Node = Amounts{4000, None}
	if c = s.look(); infeasible(c, "a") != none() || infeasible(c, "b") == none() {
		t.Error("a's node is another, and b's is not")
	}
	s.leave("b")
	s.look()
	s.arrive("b")
	if got := infeasible(s.look(), "b"); got != none() {
		t.Errorf("infeasible %v, by a Pod that was there before", got)
	}
	at := s.now
	s.Refused(Move{Pod: s.pod("b"), Way: WayEvict}, at)
	if got := s.look().Refused; !got.Equal(at) {
		t.Errorf("an eviction was last refused at %v, want %v", got, at)
	}
	s.now = at
	if got := s.look().Pods[1]; !got.NotBefore.Equal(s.now.Add(4*time.Minute)) || !got.Alone.IsZero() {
		t.Errorf("not evicted before %v, nothing done before %v, want five minutes and none", got.NotBefore, got.Alone)
	}
	s.Refused(Move{Pod: s.pod("a"), Way: WayResize}, s.now)
	if got := s.look().Pods[0]; !got.Alone.Equal(s.now.Add(4*time.Minute)) || !got.NotBefore.IsZero() {
		t.Errorf("nothing done before %v, not evicted before %v, want five minutes and none", got.Alone, got.NotBefore)
	}
	s.TooLarge(Move{Pod: s.pod("a"), Way: WayResize, Resize: Resize{Containers: []Resources{{Requests: Amounts{700, 900}}}}})
	if got := s.look().Refused; !got.Equal(at) {
		t.Errorf("after a resize was refused, an eviction was at %v, want %v", got, at)
	}
	s.Sent(Move{Pod: s.pod("b"), Way: WayEvict})
	if got := s.look().Refused; !got.IsZero() {
		t.Errorf("after one was accepted, one was refused at %v", got)
	}
	if got := infeasible(s.look(), "a"); got != (Amounts{700, 900}) {
		t.Errorf("infeasible %v, want what its node refused", got)
	}
}

func TestAccepted(t *testing.T) {
	large := Amounts{4000, 8000}
	refuse := func(uids ...string) func(*story) {
		return func(s *story) {
			for _, uid := range uids {
				p := s.pod(uid)
				p.Resize, p.Containers[0].Requests = ResizeInfeasible, Amounts{500, 900}
			}
		}
	}
	grow := func(uid string, cpu int64) func(*story) {
		return func(s *story) {
			s.Sent(Move{Pod: s.pod(uid), Way: WayResize})
			p := s.pod(uid)
			p.Containers[0].Requests[CPU], p.Containers[0].Actual.Requests[CPU] = cpu, cpu
		}
	}
	begun := func(uid string) func(*story) {
		return func(s *story) {
			s.Sent(Move{Pod: s.pod(uid), Way: WayResize})
			s.pod(uid).Containers[0].Requests[CPU] = 900 // not done: it does not have it
		}
	}
	for name, c := range map[string]struct {
		looks []func(*story)
		want  Amounts
	}{
		"two were refused":         {[]func(*story){refuse("a", "b")}, none()},
		"three were refused":       {[]func(*story){refuse("a", "b", "c")}, Amounts{200, None}},
		"one after the other":      {[]func(*story){refuse("a"), refuse("b"), refuse("c")}, Amounts{200, None}},
		"one of them still is":     {[]func(*story){refuse("a"), refuse("b"), refuse("b")}, none()},
		"one was accepted between": {[]func(*story){refuse("a", "b"), grow("d", 250), refuse("c")}, none()},
		"one is not done between":  {[]func(*story){refuse("a", "b"), begun("d"), refuse("c")}, Amounts{200, None}},
		"a Pod has more":           {[]func(*story){refuse("a", "b", "c"), grow("d", 300)}, Amounts{300, None}},
		"a Pod has all":            {[]func(*story){refuse("a", "b", "c"), grow("d", 500)}, none()},
	} {
		t.Run(name, func(t *testing.T) {
			s := &story{now: noon, policy: policy(), replicas: 4}
			s.arrive("a", "b", "c", "d")
			for n := range s.pods {
				s.pods[n].Node = large
			}
			s.look()
			for _, change := range c.looks {
				change(s)
				s.look()
			}
			if got := s.Accepted(large); got != c.want {
				t.Errorf("accepted %v, want %v", got, c.want)
			}
			if got := s.Accepted(Amounts{4000, 7999}); got != none() {
				t.Errorf("nodes of another size accept %v", got)
			}
		})
	}
	t.Run("unscheduled, or of unknown nodes", func(t *testing.T) {
		s := &story{now: noon, policy: policy()}
		s.arrive("a", "b", "c")
		for n := range s.pods {
			s.pods[n].Scheduled, s.pods[n].Node = n > 0, []Amounts{large, none(), none()}[n]
		}
		refuse("a", "b", "c")(s)
		if s.look(); len(s.nodes) != 0 {
			t.Errorf("%v is remembered", s.nodes)
		}
	})
	t.Run("many", func(t *testing.T) {
		s := &story{now: noon, policy: policy()}
		for n := range int64(100) {
			s.arrive(fmt.Sprint(n))
			s.pods[n].Node = Amounts{1000 + n, 1}
			s.look()
		}
		if len(s.nodes) != nodeSizes || len(s.Past.pods) != 100 {
			t.Errorf("%d sizes of nodes are remembered, and %d Pods", len(s.nodes), len(s.Past.pods))
		}
		s.pods = nil
		if s.look(); len(s.Past.pods) != 0 {
			t.Errorf("%d Pods that are gone", len(s.Past.pods))
		}
	})
}

func TestModeIn(t *testing.T) {
	got := map[Means]Mode{}
	for _, can := range []Means{{}, {Admits: true}, {InPlace: true}, {Admits: true, InPlace: true}} {
		got[can] = ModeAuto.In(can)
		for m := range ModeAuto {
			if m.In(can) != m {
				t.Errorf("mode %d is %d", m, m.In(can))
			}
		}
	}
	want := map[Means]Mode{{}: ModeOff, {Admits: true}: ModeOff, {InPlace: true}: ModeInPlace,
		{Admits: true, InPlace: true}: ModeInPlaceOrRecreate}
	fleettest.Same(t, "modes", want, got)
}

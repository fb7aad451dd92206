// SPDX-License-Identifier: Apache-2.0

package memberapi

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// changing is a fleet that tests change.
type changing struct {
	mu    sync.Mutex
	known []Known
	store *Store
}

func newChanging(known ...Known) *changing {
	c := &changing{known: known}
	c.store = New(Options{Fleet: func() []Known {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.Clone(c.known)
	}})
	return c
}

// become has the fleet be another one, and the store know that.
func (c *changing) become(known ...Known) {
	c.mu.Lock()
	c.known = known
	c.mu.Unlock()
	c.store.refresh(0)
}

// version is the present resource version.
func (c *changing) version() string {
	_, version := c.store.present()
	return versionText(version)
}

func (c *changing) watch(t *testing.T, o metainternalversion.ListOptions) watch.Interface {
	t.Helper()
	w, err := storage{c.store}.Watch(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

// events are those that come until nothing more does, as "ADDED east Ready".
func events(t *testing.T, w watch.Interface) []string {
	t.Helper()
	got := []string{}
	for {
		synctest.Wait()
		select {
		case e, open := <-w.ResultChan():
			if !open {
				return append(got, "end")
			}
			got = append(got, describe(e))
		default:
			return got
		}
	}
}

func describe(e watch.Event) string {
	switch o := e.Object.(type) {
	case *v1alpha1.Member:
		if e.Type == watch.Bookmark {
			return fmt.Sprintf("%s %d", e.Type, len(o.Annotations))
		}
		return fmt.Sprintf("%s %s %s", e.Type, o.Name, o.Status.State)
	case *metav1.Status:
		return fmt.Sprintf("%s %d", e.Type, o.Code)
	}
	return fmt.Sprintf("%s %T", e.Type, e.Object)
}

func named(name string) Known { k := east(); k.Name = name; return k }

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChanging(named("a"), named("b"))
		since := c.version()
		all := c.watch(t, metainternalversion.ListOptions{})
		later := c.watch(t, metainternalversion.ListOptions{ResourceVersion: since})
		one := c.watch(t, metainternalversion.ListOptions{
			ResourceVersion: since, FieldSelector: fields.OneTermEqualSelector("metadata.name", "b"),
		})
		same := func(name string, w watch.Interface, want ...string) {
			t.Helper()
			fleettest.Same(t, name, append([]string{}, want...), events(t, w))
		}
		same("all", all, "ADDED a Ready", "ADDED b Ready")
		same("later", later)

		c.become(named("a"), silent("b", "Timeout", ""), named("c"))
		same("all", all, "MODIFIED b Silent", "ADDED c Ready")
		same("later", later, "MODIFIED b Silent", "ADDED c Ready")
		same("one", one, "MODIFIED b Silent")

		c.become(named("c"))
		same("all", all, "DELETED a Ready", "DELETED b Silent")
		same("one", one, "DELETED b Silent")

		other := named("c")
		other.Source.Ref.UID = "u2"
		c.become(other)
		same("all", all, "DELETED c Ready", "ADDED c Ready")
		since = c.version()

		busy := other
		busy.MeasuredPods, busy.ClockOffset, busy.State.LastSuccess = 7, nil, began.Add(time.Hour)
		c.become(busy)
		same("what changes all the time is no event", all)
		if members, _ := c.store.present(); c.version() != since || members[0].Status.MeasuredPods != 7 {
			t.Errorf("lists show %d Pods at version %s, want 7 at %s", members[0].Status.MeasuredPods, c.version(), since)
		}
	})
}

// A watch by labels sees members come and go as these change.
func TestWatchOfASelection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChanging(named("a"))
		w := c.watch(t, metainternalversion.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{"env": "prod"})})
		got := events(t, w)
		moved := named("a")
		moved.Labels = map[string]string{"env": "test"}
		c.become(moved)
		c.become(named("a"))
		want := []string{"ADDED a Ready", "DELETED a Ready", "ADDED a Ready"}
		fleettest.Same(t, "", want, append(got, events(t, w)...))
	})
}

func TestInitialEventsAndBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChanging(named("a"))
		w := c.watch(t, metainternalversion.ListOptions{AllowWatchBookmarks: true, SendInitialEvents: new(true)})
		fleettest.Same(t, "at first", []string{"ADDED a Ready", "BOOKMARK 1"}, events(t, w))
		now := c.watch(t, metainternalversion.ListOptions{AllowWatchBookmarks: true, SendInitialEvents: new(false)})
		time.Sleep(bookmarkPeriod)
		for name, w := range map[string]watch.Interface{"with initial events": w, "without": now} {
			if diff := cmp.Diff([]string{"BOOKMARK 0"}, events(t, w)); diff != "" {
				t.Errorf("%s, a minute later (-want +got):\n%s", name, diff)
			}
		}
	})
}

// A version of another replica, of before a restart, or too far back, is answered with 410, so that clients list again.
func TestVersionsThatAreNotOurs(t *testing.T) {
	c, other := newChanging(named("a")), newChanging(named("a"))
	c.version()
	for name, tc := range map[string]struct {
		version string
		is      func(error) bool
	}{
		"another replica":  {other.version(), apierrors.IsResourceExpired},
		"a stored object":  {"4711", apierrors.IsResourceExpired},
		"of the future":    {versionText(c.store.history.last + 1), apierrors.IsResourceExpired},
		"no version":       {"east", apierrors.IsBadRequest},
		"a negative one":   {"-1", apierrors.IsBadRequest},
		"more than 64 bit": {"99999999999999999999", apierrors.IsBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			o := &metainternalversion.ListOptions{ResourceVersion: tc.version}
			if _, err := (storage{c.store}).Watch(t.Context(), o); !tc.is(err) {
				t.Errorf("watch: %v", err)
			}
			if _, err := (storage{c.store}).List(t.Context(), o); !tc.is(err) {
				t.Errorf("list: %v", err)
			}
		})
	}
}

func TestAWatchThatIsTooFarBehindEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChanging(named("a"))
		w := c.watch(t, metainternalversion.ListOptions{ResourceVersion: c.version()})
		for i := range mostChanges + 2 { // one is on its way
			if i%2 == 0 {
				c.become(silent("a", "Timeout", ""))
			} else {
				c.become(named("a"))
			}
		}
		got := events(t, w)
		if n := len(got); n < 2 || got[n-2] != "ERROR 410" || got[n-1] != "end" {
			t.Errorf("got %d events that end with %v, want a 410 and the end", len(got), got[max(0, len(got)-3):])
		}
	})
}

func TestWatchesAreBoundedAndEndWithTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChanging(named("a"))
		ctx, stop := context.WithCancel(t.Context())
		go c.store.Run(ctx)
		var all []watch.Interface
		for range mostStreams {
			all = append(all, c.watch(t, metainternalversion.ListOptions{ResourceVersion: c.version()}))
		}
		if _, err := (storage{c.store}).Watch(t.Context(), nil); !apierrors.IsTooManyRequests(err) {
			t.Errorf("one more: %v, want 429", err)
		}
		all[0].Stop()
		synctest.Wait()
		all[0] = c.watch(t, metainternalversion.ListOptions{ResourceVersion: c.version()})
		stop()
		for i, w := range all {
			if got := events(t, w); !slices.Equal(got, []string{"end"}) {
				t.Fatalf("watch %d: %v, want its end", i, got)
			}
		}
	})
}

// Run tells of changes soon when it is told of them, and of others all the same.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChanging(named("a"))
		go c.store.Run(t.Context())
		synctest.Wait()
		w := c.watch(t, metainternalversion.ListOptions{ResourceVersion: c.version()})
		change := func(known Known) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.known = []Known{known}
		}
		change(silent("a", "Timeout", ""))
		c.store.Changed()
		time.Sleep(rest)
		if got := events(t, w); !slices.Equal(got, []string{"MODIFIED a Silent"}) {
			t.Errorf("told of it: %v", got)
		}
		change(named("a"))
		time.Sleep(period + rest)
		if got := events(t, w); !slices.Equal(got, []string{"MODIFIED a Ready"}) {
			t.Errorf("not told of it: %v", got)
		}
	})
}

// Whoever lists and then follows the changes has what a list has, whatever they were.
func TestAWatchAddsUpToTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		c := newChanging()
		w := c.watch(t, metainternalversion.ListOptions{})
		seen := map[string]*v1alpha1.Member{}
		for range 500 {
			var known []Known
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				k := named(name)
				switch random.IntN(4) {
				case 0:
					continue
				case 1:
					k = silent(name, "Timeout", fmt.Sprint(random.IntN(2)))
				case 2:
					k.Source.Ref.UID = "u2"
				}
				known = append(known, k)
			}
			random.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
			c.become(known...)
			synctest.Wait()
			for more := true; more; synctest.Wait() {
				select {
				case e := <-w.ResultChan():
					m := e.Object.(*v1alpha1.Member)
					if _, present := seen[m.Name]; present == (e.Type == watch.Added) {
						t.Fatalf("%s of %s, which was there: %v", e.Type, m.Name, present)
					}
					if seen[m.Name] = m; e.Type == watch.Deleted {
						delete(seen, m.Name)
					}
				default:
					more = false
				}
			}
			list := map[string]*v1alpha1.Member{}
			members, _ := c.store.present()
			for _, m := range members {
				list[m.Name] = m
			}
			if diff := cmp.Diff(list, seen); diff != "" {
				t.Fatalf("(-list +watch):\n%s", diff)
			}
		}
	})
}

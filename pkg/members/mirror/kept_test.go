// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// What one member sends is forgotten before it takes the place of others, whether it comes in a list or in a watch without end.
func TestMemberThatSendsMoreThanIsKept(t *testing.T) {
	large := strings.Repeat("x", 1000)
	tests := map[string]func(evil *fakeMember){
		"one by one": func(evil *fakeMember) {
			for i := range 30 {
				evil.put(fmt.Sprintf("shop/c%d", i), large)
				synctest.Wait()
			}
		},
		"one that grows": func(evil *fakeMember) { evil.put("shop/a", strings.Repeat(large, 30)) },
	}
	for name, flood := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := connection.Options{MaxKept: 40_000}.WithDefaults() // 20 000 of one
				evil, good := newFakeMember("evil", "shop/a"), newFakeMember("good", "shop/a")
				evil.Of(o)
				good.Of(o)
				r := start(t)
				r.expect(evil, "shop", "shop/a=0")
				r.expect(good, "shop", "shop/a=0")
				flood(evil)
				time.Sleep(time.Minute)
				r.expect(evil, "shop", "unknown TooLarge")
				r.expect(good, "shop", "shop/a=0")

				for i := range len(evil.objects) - 1 {
					evil.remove(fmt.Sprintf("shop/c%d", i))
				}
				evil.put("shop/a", "1")
				time.Sleep(time.Minute)
				r.expect(evil, "shop", "shop/a=1")
			})
		})
	}
}

// Changes leave nothing behind that would count forever.
func TestWhatIsKeptCountsAsLongAsItIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := connection.Options{MaxKept: 40_000}.WithDefaults()
		east := newFakeMember("east")
		east.Of(o)
		r := start(t)
		r.expect(east, "shop", "")
		for i := range 500 {
			name := fmt.Sprintf("shop/c%d", i%5)
			east.put(name, strings.Repeat("x", 100+i))
			if i%3 == 0 {
				east.remove(name)
			}
			synctest.Wait()
		}
		for key := range maps.Clone(east.objects) {
			east.remove(key.Namespace + "/" + key.Name)
		}
		east.put("shop/a", "1")
		synctest.Wait()
		r.expect(east, "shop", "shop/a=1")
		all := east.Reading().Keep(func() {})
		if err := all.Add(20_000 - 1 - placeBytes); err != nil {
			t.Errorf("all but what one object takes: %v", err)
		}
	})
}

type template struct{ bytes int64 }

func (s template) Bytes() int64 { return s.bytes }

// shared is an object of a template.
type shared struct {
	*thing
	template
}

func (s shared) Bytes() int64   { return s.thing.Bytes() }
func (s shared) Shared() Shared { return s.template }

func TestWhatIsSharedCountsOnce(t *testing.T) {
	const template1, template2 = 1000, 2000
	of := func(bytes int64) shared { return shared{&thing{}, template{bytes}} }
	east := connection.NewPeer("east", connection.Options{MaxKept: 1 << 20}.WithDefaults(), nil, func(fleet.Reason) {}, nil).Reading()
	h := newHolding[shared](east, func() {})
	steps := []struct {
		do   func() error
		want int64 // beside what each object and each template takes to be found
		each int   // objects
		all  int   // templates
	}{
		{func() error { return h.add(of(template1), of(template1)) }, template1, 2, 1},
		{func() error { return h.replace(nil, of(template2)) }, template1 + template2, 3, 2},
		{func() error { return h.replace([]shared{of(template1)}, of(template2)) }, template1 + template2, 3, 2},
		{func() error { h.drop(of(template1)); return nil }, template2, 2, 1},
		{func() error { return h.replace([]shared{of(template2)}, of(template2)) }, template2, 2, 1},
		{func() error { h.drop(of(template2), of(template2)); return nil }, 0, 0, 0},
	}
	for i, step := range steps {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		want := step.want + int64(step.each)*placeBytes + int64(step.all)*sharedBytes
		rest := east.Keep(func() {})
		if rest.Add(1<<19-want) != nil || rest.Add(1) == nil {
			t.Errorf("step %d: not %d bytes are held", i, want)
		}
		rest.GiveBack()
		if len(h.shared) != step.all {
			t.Errorf("step %d: %d templates are counted, want %d", i, len(h.shared), step.all)
		}
	}
}

// A new list comes beside the objects of the last one; together they may be more than is kept, though each alone is not.
func TestListForWhichThereIsRoomByItself(t *testing.T) {
	for _, sizes := range [][2]int{{12_000, 12_000}, {6_000, 15_000}, {15_000, 6_000}} {
		t.Run(fmt.Sprint(sizes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east := newFakeMember("east")
				east.put("shop/a", strings.Repeat("x", sizes[0]))
				east.Of(connection.Options{MaxKept: 40_000}.WithDefaults())
				r := start(t)
				r.expect(east, "shop", "shop/a="+strings.Repeat("x", sizes[0]))
				for range 3 {
					east.breakWatches(true)
					east.put("shop/a", strings.Repeat("y", sizes[1]))
					time.Sleep(2 * time.Minute)
					r.expect(east, "shop", "shop/a="+strings.Repeat("y", sizes[1]))
					if n := east.watched(); n != 1 {
						t.Errorf("%d watches, want 1", n)
					}
				}
			})
		})
	}
}

// Objects that are forgotten while the watch that follows them begins are not seen until they are listed again.
func TestObjectsForgottenWhileTheirWatchBegins(t *testing.T) {
	now := time.Now()
	east := newFakeMember("east")
	f := newFeed(&Options[*corev1.ConfigMap, *thing]{}, east, "shop", nil, nil)
	held := newHolding[*thing](connection.NewReading(), func() {})
	f.listed([]*thing{{key: Key{"shop", "a"}}}, held, now)
	f.mu.Lock()
	f.clear(&fleet.Silence{Reason: fleet.ReasonTooLarge}, now)
	f.mu.Unlock()
	ended := false
	f.began(func() { ended = true }, now)
	a := f.answer("shop", now)
	if !ended || a.Known || a.Silence == nil || a.Silence.Reason != fleet.ReasonTooLarge {
		t.Errorf("the watch is ended %t, the objects are known %t, silent: %v", ended, a.Known, a.Silence)
	}
	if !f.misses() {
		t.Error("the objects are not listed again")
	}
	f.mu.Lock()
	f.clear(&fleet.Silence{Reason: fleet.ReasonTooLarge}, now)
	f.mu.Unlock()
	f.listed([]*thing{{key: Key{"shop", "a"}}}, newHolding[*thing](connection.NewReading(), func() {}), now)
	if f.misses() || !f.answer("shop", now).Known {
		t.Error("the objects that were listed since are forgotten, or listed once more")
	}
}

// SPDX-License-Identifier: Apache-2.0

package leftovers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// world is a hub and its members, and the sweeper.
type world struct {
	*Sweeper
	now    *federatedhpatest.World
	cached reader
	hub    reader
	all    map[string]*member
	held   error
}

// reader is the FederatedHPAs of a hub, as namespace/uid.
type reader struct {
	client.Reader
	owners map[string]bool
	err    error
	more   string
	asked  *int
	// objects say more of those with that uid.
	objects map[string]func(*v1alpha1.FederatedHPA)
}

func (r *reader) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	*r.asked++
	into := list.(*v1alpha1.FederatedHPAList)
	into.Continue = r.more
	for owner := range r.owners {
		namespace, uid, _ := strings.Cut(owner, "/")
		if namespace == o.Namespace {
			into.Items = append(into.Items, v1alpha1.FederatedHPA{})
			f := &into.Items[len(into.Items)-1]
			if f.UID = types.UID(uid); r.objects[uid] != nil {
				r.objects[uid](f)
			}
		}
	}
	return r.err
}

// member has autoscalers of this hub, as namespace/name, and who owns them.
type member struct {
	federatedhpatest.Member
	made    map[string]string
	lists   int
	refuses error
	removed []string
	listed  func()
}

func (m *member) MadeBy(_ context.Context, hub string) (all []*autoscalingv2.HorizontalPodAutoscaler, err error) {
	m.lists++
	if hub != "us" {
		return nil, fmt.Errorf("asked for those of %q", hub)
	}
	for _, key := range slices.Sorted(maps.Keys(m.made)) {
		hpa := &autoscalingv2.HorizontalPodAutoscaler{}
		hpa.Namespace, hpa.Name, _ = strings.Cut(key, "/")
		hpa.UID, hpa.Labels = types.UID("uid-of-"+key), map[string]string{v1alpha1.ManagedByLabel: m.made[key]}
		all = append(all, hpa)
	}
	if m.listed != nil {
		m.listed()
	}
	return all, nil
}

func (m *member) Delete(_ context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler) error {
	if m.refuses != nil {
		return m.refuses
	}
	key := hpa.Namespace + "/" + hpa.Name
	delete(m.made, key)
	m.removed = append(m.removed, key)
	return nil
}

func (w *world) Settled() error               { return nil }
func (w *world) Clusters() []workload.Cluster { return federatedhpatest.Clusters(w.all) }

// newWorld has the FederatedHPA a in shop, and a member with its autoscaler, one of a former b, and one in another namespace.
func newWorld(t *testing.T) *world {
	w := &world{now: federatedhpatest.NewWorld(t, time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)), all: map[string]*member{}}
	w.hub = reader{owners: map[string]bool{"shop/a": true, "bank/c": true}, asked: new(int)}
	w.cached = reader{owners: maps.Clone(w.hub.owners), asked: new(int)}
	w.all["east"] = &member{Member: federatedhpatest.NewMember(w.now, "east"),
		made: map[string]string{"shop/web": "a", "shop/old": "b", "bank/web": "c"}}
	w.Sweeper = New(Options{Hub: &w.cached, Live: &w.hub, ID: func() string { return "us" }, Fleet: w, Hold: func() error { return w.held },
		Timeout: time.Second, Selection: &selection.Reader{Fleet: w, Timeout: time.Second}, Clock: w.now.Clock})
	return w
}

func (w *world) after(t *testing.T, d time.Duration, want ...string) {
	t.Helper()
	w.now.Clock.SetTime(w.now.Clock.Now().Add(d))
	w.pass(t.Context())
	fleettest.Same(t, "removed", want, w.all["east"].removed)
}

func TestWhatNobodyOwnsIsRemoved(t *testing.T) {
	tests := map[string]struct {
		change func(*world)
		want   []string
	}{
		"its owner is gone":                  {func(*world) {}, []string{"shop/old"}},
		"the hub has not told all":           {func(w *world) { w.held = errors.New("not yet") }, nil},
		"the cache lags, and the hub has it": {func(w *world) { w.hub.owners["shop/b"] = true }, nil},
		"the cache alone still has it":       {func(w *world) { w.cached.owners["shop/b"] = true }, nil},
		"the owner is of another namespace": {func(w *world) { w.hub.owners["bank/b"], w.cached.owners["bank/b"] = true, true },
			[]string{"shop/old"}},
		"the hub cannot be asked":               {func(w *world) { w.hub.err = errors.New("away") }, nil},
		"the hub tells a part":                  {func(w *world) { w.hub.more = "token" }, nil},
		"the cluster is silent":                 {func(w *world) { w.all["east"].Silent = federatedhpatest.Silence() }, nil},
		"it was made while the member was read": {func(w *world) { w.all["east"].listed = func() { w.hub.owners["shop/b"] = true } }, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tc.change(w)
			w.after(t, 0, tc.want...)
		})
	}
}

// The hub itself is asked only where the cache does not know an owner.
func TestTheHubIsAskedSeldom(t *testing.T) {
	w := newWorld(t)
	delete(w.all["east"].made, "shop/old")
	w.after(t, 0)
	if *w.hub.asked != 0 || *w.cached.asked != 2 {
		t.Errorf("the hub was asked %d times, the cache %d times", *w.hub.asked, *w.cached.asked)
	}
}

// A cluster that tells of autoscalers in ever so many namespaces does not have the hub asked about all of them at once.
func TestACrowdOfNamespacesIsAskedForInPasses(t *testing.T) {
	w := newWorld(t)
	east := w.all["east"]
	east.made = map[string]string{}
	for i := range 2*mostAsked + 1 {
		east.made[fmt.Sprintf("n%02d/web", i)] = "nobody"
	}
	for pass, want := range []int{mostAsked, 2 * mostAsked, 2*mostAsked + 1} {
		w.now.Clock.SetTime(w.now.Clock.Now().Add(period))
		w.pass(t.Context())
		if *w.hub.asked != want || len(east.removed) != want {
			t.Errorf("after pass %d the hub was asked %d times, and %d were removed, want %d", pass, *w.hub.asked, len(east.removed), want)
		}
	}
}

// A cluster is swept when it is ready, when it is back, and once an hour; where that failed, soon again.
func TestWhenAClusterIsSwept(t *testing.T) {
	w := newWorld(t)
	east := w.all["east"]
	east.refuses = errors.New("no")
	w.after(t, 0)
	east.refuses = nil
	w.after(t, period, "shop/old")
	w.after(t, again-time.Second, "shop/old")
	if east.lists != 2 {
		t.Errorf("listed %d times, want twice within the hour", east.lists)
	}
	east.made["shop/late"] = "b"
	w.after(t, time.Second, "shop/old", "shop/late")
	east.made["shop/missed"] = "b"
	east.Silent = federatedhpatest.Silence()
	w.after(t, period, "shop/old", "shop/late")
	east.Silent = nil
	w.after(t, period, "shop/old", "shop/late", "shop/missed")
}

// What is removed at once is bounded, and the rest follows.
func TestManyAreRemovedInPasses(t *testing.T) {
	w := newWorld(t)
	east := w.all["east"]
	for i := range mostRemoved + 10 {
		east.made[fmt.Sprintf("shop/x%03d", i)] = "b"
	}
	w.pass(t.Context())
	if len(east.removed) != mostRemoved {
		t.Errorf("%d were removed at once, want %d", len(east.removed), mostRemoved)
	}
	w.now.Clock.SetTime(w.now.Clock.Now().Add(period))
	w.pass(t.Context())
	if len(east.removed) != mostRemoved+11 || len(east.made) != 2 {
		t.Errorf("%d were removed, left are %v", len(east.removed), east.made)
	}
}

// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/plugin/dashboard/dashboardtest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
)

// costs is what something leaves in memory, in MiB.
func costs(do func()) float64 {
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // the first one only begins to drop what pools keep
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := inUse()
	do()
	return (float64(inUse()) - float64(before)) / (1 << 20)
}

// wired is an object as it comes from a hub: nothing of it is shared with others.
func wired(t *testing.T, object any) *unstructured.Unstructured {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	return u
}

// readFleet has a page read a fleet, whose autoscalers run in four members each.
func readFleet(t *testing.T, s *seen, members, autoscalers int) {
	t.Helper()
	name := func(i int) string { return fmt.Sprintf("member-%03d", i%members) }
	all := make([]member, members)
	for i := range all {
		all[i] = memberOf(dashboardtest.Member(name(i), int32(i), noon))
	}
	s.setMembers(all)
	from := &source{watcher: &watcher{seen: s}, kind: kinds[0]}
	for i := range autoscalers {
		f := dashboardtest.FederatedHPA(fmt.Sprintf("team-%02d", i%40), fmt.Sprintf("web-%04d", i), noon, 60, 2, name(i), name(i+1), name(i+2),
			name(i+3))
		if err := from.Add(wired(t, f)); err != nil {
			t.Fatal(err)
		}
	}
}

// A page of a list takes the memory of what is kept of it, and not of what the hub sends; nor is it kept who has set which field. All
// readers may list at one time: after a restart their browsers do.
func TestMemoryOfAList(t *testing.T) {
	hub := &dashboardtest.Hub{}
	for i := range page {
		hub.Put(dashboardtest.FederatedHPAs, managed(fmt.Sprintf("web-%03d", i)))
	}
	server := httptest.NewServer(hub)
	defer server.Close()
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	from := &source{watcher: &watcher{hub: client, seen: newSeen("hub", time.Now)}, kind: kinds[0]}
	ask := func() *metainternalversion.List {
		list, err := from.list(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return list.(*metainternalversion.List)
	}
	ask() // what a first question leaves behind is no list's
	var list *metainternalversion.List
	took := costs(func() { list = ask() })
	t.Logf("%.1f MiB for %d autoscalers", took, page)
	if took > 5 { // as they come from the hub they take more than 15
		t.Errorf("%d autoscalers take %.1f MiB", page, took)
	}
	all := make([]any, len(list.Items))
	for i := range all {
		all[i] = list.Items[i]
	}
	if err := errors.Join(from.Replace(all, ""), from.Add(wired(t, managed("new")))); err != nil {
		t.Fatal(err)
	}
	if n := len(from.seen.objects); n != page+1 {
		t.Errorf("%d are kept", n)
	}
	for id, object := range from.seen.objects {
		if len(object.GetManagedFields()) > 0 {
			t.Fatalf("of %s it is kept who has set which field", id)
		}
	}
}

// managed is an autoscaler of which it is known who has set which field.
func managed(name string) *v1alpha1.FederatedHPA {
	f := dashboardtest.FederatedHPA("shop", name, noon, 60, 2, "east", "west", "north", "south")
	dashboardtest.Manage(f)
	return f
}

// restless has autoscalers change so often that no more can be kept of it.
func restless(s *seen) {
	for step := int32(1); ; step++ {
		before := s.weight
		for id, object := range s.objects {
			p, _ := pointOf(object, noon.Add(time.Duration(step)*time.Second))
			p.Desired = new(*p.Desired + step)
			s.remember(id, p)
		}
		if s.weight <= before {
			return
		}
	}
}

// What one reader of a large fleet costs is what the requests and limits of deploy/base/dashboard are made for.
func TestMemoryOfAReader(t *testing.T) {
	const members, autoscalers, clusters, decisions = 500, 2000, 10, 6000
	s := newSeen("hub", time.Now)
	s.most = sharedRoom.seen
	objects := costs(func() { readFleet(t, s, members, autoscalers) })
	points := costs(func() { restless(s) })
	stream := recordingtest.Stream(recordingtest.NewFleet(rand.New(rand.NewPCG(1, 1)), clusters, decisions).Run(decisions)...)
	to := newTail(sharedRoom)
	record := costs(func() { takeAll(t, &to, stream) })
	_, segments := to.past()
	var all []*recording.Record
	replayed := costs(func() { all = recordsOf(t, bytes.Join(segments, nil)) })
	t.Logf("a reader: %.1f MiB of objects, %.1f of points, %.1f of the record of one autoscaler (%d bytes kept of %d, %d points)",
		objects, points, record, to.size, len(stream), len(to.points))
	t.Logf("a replay of %d decisions over %d clusters: %.1f MiB", len(all), clusters, replayed)
	if whole := objects + points + float64(sharedRoom.open)*record; points < 1 || whole < 10 || whole > 32 {
		t.Errorf("a reader costs %.1f MiB", whole)
	}
	runtime.KeepAlive(s)
	runtime.KeepAlive(all)
}

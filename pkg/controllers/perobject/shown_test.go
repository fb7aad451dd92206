// SPDX-License-Identifier: Apache-2.0

package perobject

import (
	"maps"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestShown(t *testing.T) {
	key := func(name string) client.ObjectKey { return client.ObjectKey{Namespace: "shop", Name: name} }
	s := Shown[int]{}
	shows := func(when string, without int, want map[string]int) {
		t.Helper()
		got := map[string]int{}
		if n := s.Each(func(k client.ObjectKey, v int) { got[k.Name] = v }); n != without || !maps.Equal(got, want) {
			t.Errorf("%s: %v and %d without, want %v and %d", when, got, n, want, without)
		}
	}
	shows("at first", 0, nil)
	s.Forget(key("web"))
	if s.Admit(key("web"), 0) {
		t.Error("web is admitted among none")
	}
	shows("no room", 1, nil)
	if !s.Admit(key("web"), 1) || !s.Admit(key("web"), 0) {
		t.Error("web is not admitted, or not for good")
	}
	shows("not set yet", 0, map[string]int{"web": 0})
	s.Set(key("web"), 7)
	for range 2 {
		if s.Admit(key("api"), 1) {
			t.Error("api is admitted beside web")
		}
	}
	shows("one of two", 1, map[string]int{"web": 7})
	s.Forget(key("web"))
	shows("web is gone", 1, nil)
	if !s.Admit(key("api"), 1) {
		t.Error("api is not admitted in its place")
	}
	shows("api has its place", 0, map[string]int{"api": 0})
	if s.Admit(key("web"), 1) {
		t.Error("web is admitted beside api")
	}
	s.Set(key("web"), 1)
	shows("what is set needs no room", 0, map[string]int{"api": 0, "web": 1})
	if s.Admit(key("new"), 2) {
		t.Error("new is admitted beside two")
	}
	s.Forget(key("new"))
	shows("who had nothing is gone", 0, map[string]int{"api": 0, "web": 1})
}

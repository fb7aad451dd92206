// SPDX-License-Identifier: Apache-2.0

package perobject

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func object(name, uid string) client.Object {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(uid)}}
}

func TestStore(t *testing.T) {
	var dropped []int
	s := Store[int]{Dropped: func(_ client.ObjectKey, n *int) { dropped = append(dropped, *n) }}
	key := client.ObjectKeyFromObject(object("web", ""))
	if s.Find(key) != nil {
		t.Error("something is known of an object that was never seen")
	}
	s.Forget(key)
	*s.Of(object("web", "a")) = 1
	*s.Of(object("api", "c")) = 3
	if got := *s.Of(object("web", "a")); got != 1 || s.Find(key) != s.Of(object("web", "a")) {
		t.Errorf("of web is known %d, want 1, and under its name too", got)
	}
	if got := *s.Of(object("web", "b")); got != 0 {
		t.Errorf("another object of the name begins with %d, want 0", got)
	}
	*s.Of(object("web", "b")) = 2
	s.Forget(key)
	if s.Find(key) != nil || *s.Of(object("api", "c")) != 3 {
		t.Error("web is still known, or api is not")
	}
	if want := []int{1, 2}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %v, want %v", dropped, want)
	}
	quiet := Store[int]{}
	*quiet.Of(object("web", "a"))++
	quiet.Forget(key)
}

func TestForgetAll(t *testing.T) {
	var dropped []int
	s := Store[int]{Dropped: func(_ client.ObjectKey, n *int) { dropped = append(dropped, *n) }}
	for i, name := range []string{"web", "api", "job"} {
		*s.Of(object(name, "a")) = i
	}
	s.ForgetAll(func(key client.ObjectKey) bool { return key.Name != "api" })
	slices.Sort(dropped)
	if !slices.Equal(dropped, []int{0, 2}) || s.Find(client.ObjectKey{Namespace: "shop", Name: "api"}) == nil {
		t.Errorf("dropped %v, want 0 and 2", dropped)
	}
}

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// losses are the Ready Pods of a namespace that were told to end.
type losses struct {
	mu   sync.Mutex
	pods []string
}

// watchLosses starts to watch for them in members.
func (s *stage) watchLosses(members ...string) *losses {
	s.t.Helper()
	l := &losses{}
	for _, member := range members {
		pods := s.resource(member, "v1", "Pod")
		list, err := pods.List(s.t.Context(), metav1.ListOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		w, err := pods.Watch(s.t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(w.Stop)
		go l.follow(member, w)
	}
	return l
}

func (l *losses) follow(member string, w watch.Interface) {
	for event := range w.ResultChan() {
		object, is := event.Object.(*unstructured.Unstructured)
		pod := &corev1.Pod{}
		if !is || runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, pod) != nil {
			l.add(fmt.Sprintf("%s: the watch said %v", member, event.Object))
			continue
		}
		if (event.Type == watch.Deleted || pod.DeletionTimestamp != nil) && wasReady(pod) {
			l.add(member + "/" + pod.Name)
		}
	}
	l.add(member + ": the watch ended")
}

func wasReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func (l *losses) add(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.pods, what) {
		l.pods = append(l.pods, what)
	}
}

// none fails if there were any so far.
func (l *losses) none(s *stage, during string) {
	s.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pods) > 0 {
		s.t.Errorf("%s: Ready Pods were ended %s: %s", s.ns, during, strings.Join(l.pods, ", "))
	}
}

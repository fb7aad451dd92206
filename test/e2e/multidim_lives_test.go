// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// lives are those of a workload's Pods in a member, since they were first watched.
type lives struct {
	mu    sync.Mutex
	pods  map[types.UID]*life
	least int   // Pods that were Ready at the same time
	lost  error // why no more is seen
}

// life is what has become of one Pod.
type life struct {
	name, sizedBy string
	cpu           []*resource.Quantity // that its container requested, one after another
	generation    int64
	ready         bool
	ended         time.Time // when it was told to end; zero: it was not
}

// watchLives begins to watch.
func (s *stage) watchLives(name, member string) *lives {
	s.t.Helper()
	pods, options := s.resource(member, "v1", "Pod"), metav1.ListOptions{LabelSelector: "app=" + name}
	list, err := pods.List(s.t.Context(), options)
	if err != nil {
		s.t.Fatal(err)
	}
	l := &lives{pods: map[types.UID]*life{}}
	for i := range list.Items {
		l.see(watch.Event{Type: watch.Added, Object: &list.Items[i]})
	}
	l.least = l.ready()
	options.ResourceVersion = list.GetResourceVersion()
	w, err := pods.Watch(s.t.Context(), options)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(w.Stop)
	go func() {
		for event := range w.ResultChan() {
			l.see(event)
		}
	}()
	return l
}

func (l *lives) see(event watch.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	object, is := event.Object.(*unstructured.Unstructured)
	pod := &corev1.Pod{}
	if !is || runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, pod) != nil {
		l.lost = fmt.Errorf("the watch said %v", event.Object)
		return
	}
	of := l.pods[pod.UID]
	if of == nil {
		of = &life{name: pod.Name}
		l.pods[pod.UID] = of
	}
	of.sizedBy, of.generation, of.ready = pod.Annotations[sizedBy], pod.Generation, wasReady(pod)
	if cpu := pod.Spec.Containers[0].Resources.Requests.Cpu(); len(of.cpu) == 0 || !cpu.Equal(*of.cpu[len(of.cpu)-1]) {
		of.cpu = append(of.cpu, cpu)
	}
	if of.ended.IsZero() && (event.Type == watch.Deleted || pod.DeletionTimestamp != nil) {
		of.ended = time.Now()
	}
	l.least = min(l.least, l.ready())
}

func (l *lives) ready() (n int) {
	for _, of := range l.pods {
		if of.ready && of.ended.IsZero() {
			n++
		}
	}
	return n
}

// told returns them as they are now, and how many were Ready at the same time at least.
func (l *lives) told(t *testing.T) (all []life, least int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		t.Fatal(l.lost)
	}
	for _, of := range l.pods {
		all = append(all, *of)
	}
	return all, l.least
}

// ended returns those that were told to end.
func (l *lives) ended(t *testing.T) (all []life) {
	t.Helper()
	pods, _ := l.told(t)
	for _, of := range pods {
		if !of.ended.IsZero() {
			all = append(all, of)
		}
	}
	return all
}

// keep fails if one has ended, or was made smaller.
func (l *lives) keep(t *testing.T, during string) {
	t.Helper()
	pods, _ := l.told(t)
	for _, of := range pods {
		if !of.ended.IsZero() {
			t.Errorf("%s was told to end %s", of.name, during)
		}
		for i := range of.cpu[1:] {
			if of.cpu[i+1].Cmp(*of.cpu[i]) < 0 {
				t.Errorf("%s was made smaller %s: it requested %v", of.name, during, of.cpu)
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Kinds of workloads.
const (
	Deployment  = "Deployment"
	StatefulSet = "StatefulSet"
)

// Workload is a Deployment or a StatefulSet, and its Pods. All of them are Ready
// as soon as they exist.
type Workload struct {
	// Kind is Deployment, also if empty, or StatefulSet, whose Pods have the same names in all members.
	Kind            string
	Namespace, Name string
	// Replicas is how many Pods it has.
	Replicas int
	// Labels of its Pods, by which it selects them; none means app: Name.
	Labels map[string]string
	// Containers of each Pod; 0 means 1.
	Containers int
	// Request and Usage are one container's. What is not set is 100m and 128Mi.
	Request, Usage Resources
	// Metrics are the custom metrics of each Pod.
	Metrics map[string]resource.Quantity
	// Template has no Pods here, as a workload of a hub that others propagate.
	Template bool
	// Age is that of the Pods that it begins with.
	Age time.Duration
}

// Resources are cpu and memory.
type Resources struct {
	CPU, Memory resource.Quantity
}

func (r Resources) complete() Resources {
	if r.CPU.IsZero() {
		r.CPU = resource.MustParse("100m")
	}
	if r.Memory.IsZero() {
		r.Memory = resource.MustParse("128Mi")
	}
	return r
}

func (w Workload) complete() Workload {
	if w.Kind == "" {
		w.Kind = Deployment
	}
	if len(w.Labels) == 0 {
		w.Labels = map[string]string{"app": w.Name}
	}
	w.Labels = maps.Clone(w.Labels)
	w.Containers = max(1, w.Containers)
	w.Request, w.Usage = w.Request.complete(), w.Usage.complete()
	return w
}

func (w Workload) key() workloadKey { return workloadKey{plural(w.Kind), key{w.Namespace, w.Name}} }

func plural(kind string) string {
	if kind == StatefulSet {
		return "statefulsets"
	}
	return "deployments"
}

type workloadKey struct {
	resource string
	key
}

// workload is the one that runs. The world's lock guards what may change.
type workload struct {
	Workload

	next int64 // ordinal of the next Pod
}

// Run adds a workload, its Pods and its namespace.
func (m *Member) Run(w Workload) error {
	w = w.complete()
	m.world.mu.Lock()
	defer m.world.mu.Unlock()
	if m.world.workloads[w.key()] != nil {
		return fmt.Errorf("running %s %s/%s in %s: it runs already", w.Kind, w.Namespace, w.Name, m.name)
	}
	running := &workload{Workload: w}
	running.Replicas = 0
	m.world.workloads[w.key()] = running
	m.world.ensureNamespace(w.Namespace)
	m.world.scale(running, w.Replicas)
	running.Age = 0
	return nil
}

// Scale sets the replicas of a workload, whose Pods follow at once.
func (m *Member) Scale(kind, namespace, name string, replicas int) error {
	return m.change(kind, namespace, name, func(w *workload) { m.world.scale(w, replicas) })
}

// Replicas returns those of a workload.
func (m *Member) Replicas(kind, namespace, name string) (n int, err error) {
	return n, m.change(kind, namespace, name, func(w *workload) { n = w.Replicas })
}

// SetUsage sets what each container of a workload uses, as measured from the next time on.
func (m *Member) SetUsage(kind, namespace, name string, usage Resources) error {
	return m.change(kind, namespace, name, func(w *workload) { w.Usage = usage.complete() })
}

func (m *Member) change(kind, namespace, name string, f func(*workload)) error {
	m.world.mu.Lock()
	defer m.world.mu.Unlock()
	running := m.world.workloads[workloadKey{plural(kind), key{namespace, name}}]
	if running == nil {
		return fmt.Errorf("changing %s %s/%s in %s: it does not run there", kind, namespace, name, m.name)
	}
	f(running)
	return nil
}

// scale makes and removes Pods, the latest first. The lock is held.
func (w *world) scale(of *workload, replicas int) {
	var added []entry
	if of.Template {
		of.Replicas = replicas
	}
	for of.Replicas < replicas {
		w.revision++
		p := newPod(w, of, w.revision)
		added = append(added, p)
		w.tell(watch.Added, "pods", p)
		of.next++
		of.Replicas++
	}
	if len(added) > 0 {
		w.shelves["pods"].add(of.Namespace, added)
	}
	if of.Replicas > replicas {
		w.removePods(of, replicas)
	}
	w.keep(plural(of.Kind), of.controller())
}

func (w *world) removePods(of *workload, replicas int) {
	pods := w.podsOf(of)
	slices.SortFunc(pods, func(a, b *pod) int { return int(a.ordinal - b.ordinal) })
	for _, p := range pods[replicas:] {
		w.drop("pods", p.key())
	}
	of.Replicas = replicas
	of.next = 0
	if replicas > 0 {
		of.next = pods[replicas-1].ordinal + 1
	}
}

func (w *world) podsOf(of *workload) []*pod {
	var pods []*pod
	for _, e := range w.shelves["pods"][of.Namespace] {
		if p := e.(*pod); p.of == of {
			pods = append(pods, p)
		}
	}
	return pods
}

// controller is the Deployment or StatefulSet itself.
func (w *workload) controller() object {
	meta := metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name, Labels: w.Labels}
	replicas, present := int32(w.Replicas), w.present()
	selector := &metav1.LabelSelector{MatchLabels: w.Labels}
	if w.Kind == StatefulSet {
		return &appsv1.StatefulSet{
			ObjectMeta: meta,
			Spec:       appsv1.StatefulSetSpec{Replicas: &replicas, Selector: selector, Template: w.template()},
			Status:     appsv1.StatefulSetStatus{Replicas: present, ReadyReplicas: present},
		}
	}
	return &appsv1.Deployment{
		ObjectMeta: meta,
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector, Template: w.template()},
		Status:     appsv1.DeploymentStatus{Replicas: present, ReadyReplicas: present, UpdatedReplicas: present},
	}
}

// present returns how many Pods there are.
func (w *workload) present() int32 {
	if w.Template {
		return 0
	}
	return int32(w.Replicas)
}

// podName is unique in the workload. A Deployment's Pods have other names in other members.
func (w *workload) podName(member string, ordinal int64) string {
	if w.Kind == StatefulSet {
		return w.Name + "-" + strconv.FormatInt(ordinal, 10)
	}
	const step = 7_654_321 // and suffixes have no divisor in common, so no two ordinals meet
	number := (uint64(ordinal)*step + hash(member, w.Namespace, w.Name)) % suffixes
	return fmt.Sprintf("%s-%010x-%s", w.Name, hash(w.Namespace, w.Name)&(1<<40-1), suffix(number))
}

const (
	suffixLetters = "bcdfghjklmnpqrstvwxz2456789"
	suffixLength  = 5
	suffixes      = 27 * 27 * 27 * 27 * 27
)

func suffix(number uint64) string {
	letters := make([]byte, suffixLength)
	for i := range letters {
		letters[i] = suffixLetters[number%uint64(len(suffixLetters))]
		number /= uint64(len(suffixLetters))
	}
	return string(letters)
}

// seconds is t as the API has it.
func seconds(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }

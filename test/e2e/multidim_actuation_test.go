// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	fleetscalev1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
)

// Members by what they were given of deploy/member-sizes.
const (
	sizesNewPods = "member1" // all of it
	resizesOnly  = "member3" // the rights only
)

// sizedBy is the annotation of a Pod that was created with a size.
const sizedBy = fleetscalev1alpha1.SizedByAnnotation

// What Pods of these cases request at first, and use: so much more that a short history is enough.
const (
	smallCPU = "100m"
	muchCPU  = "4"
)

// runSmall has members run so many Pods each, which request far less than they use. Annotations are those of the Pods.
func (s *stage) runSmall(replicas int, annotations string, members ...string) {
	s.t.Helper()
	for _, member := range members {
		s.uses(map[string]string{member: muchCPU})
		s.apply(member, sized("web", replicas, annotations, smallResources))
	}
}

// smallResources are those of a container that requests far less than it uses.
const smallResources = "{requests: {cpu: " + smallCPU + ", memory: 250Mi}}"

// sized is a Deployment with Pods of that size.
func sized(name string, replicas int, annotations, resources string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec: {replicas: %[2]d, selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}, annotations: {%[3]s}},
	spec: {containers: [{name: web, image: web, resources: %[4]s}]}}}
`, name, replicas, annotations, resources)
}

// podsIn are the Pods of a member that stay, by UID.
func (s *stage) podsIn(ctx context.Context, member string) (map[types.UID]*corev1.Pod, error) {
	return s.podsOf(ctx, "web", member)
}

// podsOf are those of the workload of that name.
func (s *stage) podsOf(ctx context.Context, name, member string) (map[types.UID]*corev1.Pod, error) {
	list, err := s.resource(member, "v1", "Pod").List(ctx, metav1.ListOptions{LabelSelector: "app=" + name})
	if err != nil {
		return nil, err
	}
	all := map[types.UID]*corev1.Pod{}
	for _, item := range list.Items {
		pod := &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, pod); err != nil {
			return nil, err
		}
		if pod.DeletionTimestamp == nil {
			all[pod.UID] = pod
		}
	}
	return all, nil
}

// running waits until so many Pods of a member are Ready.
func (s *stage) running(member string, replicas int) map[types.UID]*corev1.Pod {
	s.t.Helper()
	return s.runningOf("web", member, replicas)
}

func (s *stage) runningOf(name, member string, replicas int) (pods map[types.UID]*corev1.Pod) {
	s.t.Helper()
	s.runsOf(name, fmt.Sprintf("%s %d", member, replicas))
	eventually(s.t, s.ns+": the Pods of "+name+" are there", func(ctx context.Context) (err error) {
		if pods, err = s.podsOf(ctx, name, member); err == nil && len(pods) != replicas {
			err = fmt.Errorf("%d Pods, want %d", len(pods), replicas)
		}
		return err
	})
	return pods
}

// grew returns what is wrong with a Pod that should have as much as it uses, in place or from its creation.
func grew(pod *corev1.Pod) error {
	if len(pod.Status.ContainerStatuses) != 1 || pod.Status.ContainerStatuses[0].Resources == nil {
		return fmt.Errorf("%s tells %+v of its containers", pod.Name, pod.Status.ContainerStatuses)
	}
	asked, c := pod.Spec.Containers[0].Resources.Requests.Cpu(), pod.Status.ContainerStatuses[0]
	if has := c.Resources.Requests.Cpu(); has.Cmp(resource.MustParse(muchCPU)) < 0 || !has.Equal(*asked) || c.RestartCount != 0 {
		return fmt.Errorf("%s has %v cpu of %v, restarted %d times; conditions %+v", pod.Name, has, asked, c.RestartCount, pod.Status.Conditions)
	}
	return nil
}

// grow waits until these very Pods of a member have as much as they use.
func (s *stage) grow(member string, uids ...types.UID) {
	s.t.Helper()
	s.growOf("web", member, uids...)
}

func (s *stage) growOf(name, member string, uids ...types.UID) {
	s.t.Helper()
	eventually(s.t, s.ns+": Pods of "+name+" in "+member+" grow in place", func(ctx context.Context) error {
		pods, err := s.podsOf(ctx, name, member)
		if err != nil {
			return err
		}
		var errs []error
		for _, uid := range uids {
			if pods[uid] == nil {
				return fmt.Errorf("%s is gone", uid)
			}
			errs = append(errs, grew(pods[uid]))
		}
		return errors.Join(errs...)
	})
}

// bornSized waits until a member has so many Pods besides those, all created with their size.
func (s *stage) bornSized(member string, besides map[types.UID]*corev1.Pod, more int) {
	s.t.Helper()
	s.bornSizedOf("web", member, besides, more)
}

func (s *stage) bornSizedOf(name, member string, besides map[types.UID]*corev1.Pod, more int) {
	s.t.Helper()
	eventually(s.t, s.ns+": new Pods of "+name+" in "+member+" have their size", func(ctx context.Context) error {
		pods, err := s.podsOf(ctx, name, member)
		if err != nil {
			return err
		}
		maps.DeleteFunc(pods, func(uid types.UID, _ *corev1.Pod) bool { return besides[uid] != nil })
		if len(pods) != more {
			return fmt.Errorf("%d new Pods, want %d", len(pods), more)
		}
		var errs []error
		for _, pod := range pods {
			if by := pod.Annotations[sizedBy]; !strings.HasPrefix(by, name+"@") {
				s.t.Fatalf("%s was created without its size: %q %+v", pod.Name, by, pod.Spec.Containers[0].Resources)
			}
			errs = append(errs, grew(pod))
		}
		return errors.Join(errs...)
	})
}

// entries are the workloads of which a member has sizes, in order.
func (s *stage) entries(ctx context.Context, member string) (names []string, err error) {
	kind := fleetscalev1alpha1.SchemeGroupVersion.WithResource(fleetscalev1alpha1.PodSizesResource)
	object, err := s.clients[member].Resource(kind).Namespace(s.ns).Get(ctx, fleetscalev1alpha1.PodSizesName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sizes := &fleetscalev1alpha1.PodSizes{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, sizes); err != nil {
		return nil, err
	}
	for _, w := range sizes.Workloads {
		names = append(names, w.Name)
	}
	slices.Sort(names)
	return names, nil
}

// tellsOwner waits for an Event of the MultidimPodAutoscaler.
func (s *stage) tellsOwner(kind, reason string, words ...string) {
	s.t.Helper()
	s.hasEventOf("MultidimPodAutoscaler", kind, reason, words...)
}

// admits wants what one cluster does with new Pods.
func admits(name string, want v1alpha1.SizeAdmission) func(*v1alpha1.MultidimPodAutoscaler) error {
	return func(m *v1alpha1.MultidimPodAutoscaler) error {
		for _, c := range m.Status.Clusters {
			if c.Name == name && c.Admission == want {
				return nil
			}
		}
		return fmt.Errorf("%s is not %s: %+v", name, want, m.Status.Clusters)
	}
}

// hasEvicted wants so many evictions, and no resize that is not done.
func hasEvicted(want map[string]int32) func(*v1alpha1.MultidimPodAutoscaler) error {
	return func(m *v1alpha1.MultidimPodAutoscaler) error {
		for _, c := range m.Status.Clusters {
			got := [4]int32{ptr.Deref(c.EvictedLastHour, -1), ptr.Deref(c.Resizing, -1), ptr.Deref(c.Deferred, -1), ptr.Deref(c.Infeasible, -1)}
			if got != [4]int32{want[c.Name]} {
				return fmt.Errorf("%s: %d Pods are evicted, resizing, deferred and infeasible, want %d evicted", c.Name, got, want[c.Name])
			}
		}
		return nil
	}
}

// Pods that use more than they request grow in place, also where new ones do not get sizes; and where they do, a new one is
// created with it.
func (s *stage) growsInPlace() {
	s.runSmall(2, "", sizesNewPods, resizesOnly)
	first, others := s.running(sizesNewPods, 2), s.running(resizesOnly, 2)
	s.size("clusterAffinity: {clusterNames: [member1, member3]}, policy: {updateMode: InPlace, actAfterSeconds: 0}")
	s.grow(sizesNewPods, slices.Collect(maps.Keys(first))...)
	s.grow(resizesOnly, slices.Collect(maps.Keys(others))...)
	s.tellsOwner("Normal", "Resized", sizesNewPods, "resized in place: web-")
	s.tellsOwner("Normal", "Resized", resizesOnly, "resized in place: web-")
	s.becomes("all have their size", isSized(v1alpha1.MultidimActive, "4/4"), states("VerticalActuation=True/Actuating"),
		admits(sizesNewPods, v1alpha1.AdmissionInstalled), admits(resizesOnly, v1alpha1.AdmissionMissing), hasEvicted(nil))
	s.scaleBy(sizesNewPods, 3)
	s.bornSized(sizesNewPods, first, 1)
}

// While nothing of ours runs, a member still gives new Pods their size. With the autoscaler goes what it wrote.
func (s *stage) sizesWithoutUs() {
	before := s.running(sizesNewPods, 3)
	for _, r := range s.pair {
		if err := r.Stop(); err != nil {
			s.t.Error(err)
		}
	}
	if r := s.leads(s.t); r != nil {
		s.t.Errorf("%s still runs", r.Name)
	}
	s.scaleBy(sizesNewPods, 5)
	s.bornSized(sizesNewPods, before, 2)
	s.restartAll(s.t)
	if there, err := s.entries(s.t.Context(), sizesNewPods); err != nil || !slices.Equal(there, []string{"web"}) {
		s.t.Errorf("entries %v are there, want that of web; %v", there, err)
	}

	s.unsize("web")
	if left, err := s.entries(s.t.Context(), sizesNewPods); err != nil || len(left) > 0 {
		s.t.Errorf("entries %v are left; %v", left, err)
	}
}

// A resize that waits too long for room has its Pod evicted, for one that is created with the size, unless a budget protects it;
// never where new Pods get no size.
func (s *stage) evictsForSize() {
	const deferred = "lab.fleetscale.io/resize: Deferred"
	s.runSmall(3, deferred, sizesNewPods)
	s.runSmall(2, deferred, resizesOnly)
	first, others := s.running(sizesNewPods, 3), s.running(resizesOnly, 2)
	kept := slices.Sorted(maps.Keys(first))[0]
	if _, err := s.resource(sizesNewPods, "v1", "Pod").Patch(s.t.Context(), first[kept].Name, types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"keep":"this"}}}`), metav1.PatchOptions{}); err != nil {
		s.t.Fatal(err)
	}
	s.apply(sizesNewPods, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: keep}\n"+
		"spec: {minAvailable: 1, selector: {matchLabels: {keep: this}}}\n")
	s.size("clusterAffinity: {clusterNames: [member1, member3]}, " +
		"policy: {updateMode: InPlaceOrRecreate, actAfterSeconds: 0, minReplicas: 1}")
	s.tellsOwner("Warning", "ResizeDeferred", sizesNewPods, "wait for room")
	s.tellsOwner("Normal", "Evicted", sizesNewPods, "evicted, for new ones of another size: web-")
	s.bornSized(sizesNewPods, first, 2)
	s.becomes("it tells of evictions, and where none is possible", admits(resizesOnly, v1alpha1.AdmissionMissing),
		states("VerticalActuation=False/PodSizesNotServed", resizesOnly), isSized(v1alpha1.MultidimActive, "2/5"),
		hasEvicted(map[string]int32{sizesNewPods: 2}))
	for member, want := range map[string]map[types.UID]*corev1.Pod{sizesNewPods: {kept: first[kept]}, resizesOnly: others} {
		pods, err := s.podsIn(s.t.Context(), member)
		if err != nil {
			s.t.Fatal(err)
		}
		for uid, was := range want {
			if pod := pods[uid]; pod == nil || pod.Spec.Containers[0].Resources.Requests.Cpu().String() != smallCPU {
				s.t.Errorf("%s: %s is gone, or not as it was: %+v", member, was.Name, pod)
			}
		}
	}
	refused := fmt.Sprintf(`fleetscale_mpa_moves_total{cluster=%q,result="DisruptionBudget",way="evict"}`, sizesNewPods)
	eventually(s.t, s.ns+": the budget has refused an eviction", func(context.Context) error {
		if !strings.Contains(scrapeText(s.t, s.leader(s.t).Metrics()), refused) {
			return errors.New("no metric says so")
		}
		return nil
	})
}

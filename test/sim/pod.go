// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"hash/fnv"
	"maps"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// pod is what is kept of a Pod: a million of them fit into memory.
type pod struct {
	of      *workload
	world   *world
	name    string
	ordinal int64
	rev     int64
	born    int64 // in seconds since 1970
}

func newPod(w *world, of *workload, revision int64) *pod {
	return &pod{of: of, world: w, name: of.podName(w.name, of.next), ordinal: of.next, rev: revision, born: time.Now().Add(-of.Age).Unix()}
}

func (p *pod) key() key        { return key{p.of.Namespace, p.name} }
func (p *pod) revision() int64 { return p.rev }

func (p *pod) labels() labels.Set {
	if p.of.Kind != StatefulSet {
		return p.of.Labels
	}
	set := maps.Clone(p.of.Labels)
	set["statefulset.kubernetes.io/pod-name"] = p.name
	set["apps.kubernetes.io/pod-index"] = strconv.FormatInt(p.ordinal, 10)
	return set
}

func (p *pod) fields() fields.Set {
	return fields.Set{"metadata.name": p.name, "metadata.namespace": p.of.Namespace, "spec.nodeName": p.node(),
		"status.phase": string(corev1.PodRunning)}
}

func (p *pod) node() string { return p.world.nodeName(int(p.ordinal) % nodes) }

func (p *pod) object() object {
	started := metav1.Unix(p.born, 0)
	template := p.of.template()
	o := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	o.Namespace, o.Name, o.Labels = p.of.Namespace, p.name, p.labels()
	o.UID = p.world.uid("pods", p.key())
	o.ResourceVersion = strconv.FormatInt(p.rev, 10)
	o.CreationTimestamp = started
	o.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: p.of.Kind, Name: p.of.Name,
		UID: p.world.uid(plural(p.of.Kind), p.of.Workload.key().key)}}
	o.Spec.NodeName = p.node()
	o.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, HostIP: "127.0.0.1", PodIP: fmt.Sprintf("10.%d.%d.%d", p.ordinal>>16&255, p.ordinal>>8&255, p.ordinal&255),
		StartTime: &started, QOSClass: corev1.PodQOSBurstable,
	}
	for _, condition := range []corev1.PodConditionType{corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		o.Status.Conditions = append(o.Status.Conditions, corev1.PodCondition{Type: condition, Status: corev1.ConditionTrue,
			LastTransitionTime: started})
	}
	for _, c := range o.Spec.Containers {
		o.Status.ContainerStatuses = append(o.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: true, Started: new(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
		})
	}
	return o
}

func (w *workload) template() corev1.PodTemplateSpec {
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: w.Labels}}
	for i := range w.Containers {
		template.Spec.Containers = append(template.Spec.Containers, corev1.Container{
			Name: containerName(i), Image: "registry.example.com/" + w.Name + ":v1.2.3",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: w.Request.CPU, corev1.ResourceMemory: w.Request.Memory,
			}},
		})
	}
	return template
}

func containerName(i int) string {
	if i == 0 {
		return "app"
	}
	return "sidecar-" + strconv.Itoa(i)
}

// hash is the same for the same words always.
func hash(words ...string) uint64 {
	h := fnv.New64a()
	for _, word := range words {
		_, _ = h.Write([]byte(word))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
)

// pods is a list of so many, each with what a Pod of a Deployment has.
func pods(n int) *corev1.PodList {
	list := &corev1.PodList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	for i := range n {
		requests := corev1.ResourceList{"cpu": resource.MustParse("250m"), "memory": resource.MustParse("64Mi")}
		digest := "sha256:9e1234567890abcdef0123e45678901234567890abcdef012345e6789012345678"
		p := corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: fmt.Sprintf("web-5d9c7b8f4e-%05d", i), UID: types.UID(fmt.Sprintf("6f1e4567-e89b-12d3-a456-%012d", i)),
				ResourceVersion: "123456789", Labels: map[string]string{"app": "web", "pod-template-hash": "5d9c7b8f4e"},
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet",
					FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:podIP":{}}` + strings.Repeat(` `, 800) + `}`)}},
			},
			Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "app", Image: "registry.example.com/web@" + digest,
					Resources: corev1.ResourceRequirements{Requests: requests, Limits: requests}}},
				Volumes:  []corev1.Volume{{Name: "token", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
				NodeName: "node-1234", ServiceAccountName: "default",
			},
			Status: corev1.PodStatus{
				Phase: corev1.PodRunning, PodIP: "10.12.13.14",
				ContainerStatuses: []corev1.ContainerStatus{{Name: "app", ImageID: digest, ContainerID: "containerd://" + digest[7:]}},
			},
		}
		list.Items = append(list.Items, p)
	}
	return list
}

// What the guard costs is to be set against what decoding costs.
func BenchmarkPodList(b *testing.B) {
	guarded := ofKubernetes()
	for i, body := range encodings(pods(2000)) {
		format := []string{"json", "protobuf"}[i]
		b.Run(format+"/guard", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := guarded.Check(body, nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(format+"/decode", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSchemeOf(b *testing.B) {
	for b.Loop() {
		SchemeOf(scheme.Scheme)
	}
}

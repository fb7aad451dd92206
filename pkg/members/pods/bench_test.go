// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/members/mirror"
)

// listed are the Pods of ten workloads of a namespace, so many of each.
func listed(each int) mirror.Answer[*Record] {
	answer := mirror.Answer[*Record]{Known: true}
	for workload := range 10 {
		for i := range each {
			p := &corev1.Pod{}
			p.Namespace, p.Name = "shop", fmt.Sprintf("app-%d-%04d", workload, i)
			p.Labels = map[string]string{"app": fmt.Sprintf("app-%d", workload), "team": "shop"}
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: fmt.Sprintf("app-%d", workload), Controller: new(true)}}
			p.Spec.Containers = []corev1.Container{{Name: "app"}, {Name: "proxy"}}
			answer.Objects = append(answer.Objects, recordOf(p))
		}
	}
	return answer
}

// BenchmarkListing is one question for the Pods of one of ten workloads of a namespace.
func BenchmarkListing(b *testing.B) {
	for _, each := range []int{2, 10, 100} {
		b.Run(fmt.Sprintf("pods=%d", each), func(b *testing.B) {
			answer, selector := listed(each), labels.SelectorFromSet(labels.Set{"app": "app-7"})
			b.ReportAllocs()
			for b.Loop() {
				if l := listingOf(answer, selector); len(l.Pods) != each {
					b.Fatalf("%d Pods", len(l.Pods))
				}
			}
		})
	}
}

// BenchmarkSizedListing is the same question with the sizes of the Pods.
func BenchmarkSizedListing(b *testing.B) {
	answer, selector := listed(100), labels.SelectorFromSet(labels.Set{"app": "app-7"})
	b.ReportAllocs()
	for b.Loop() {
		if l := sizedListingOf(answer, selector); len(l.Pods) != 100 {
			b.Fatalf("%d Pods", len(l.Pods))
		}
	}
}

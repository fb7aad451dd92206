// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"slices"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// Of several Pods without a request the first as given is named, in the first cluster by name. Nothing else tells the
// order of clusters and Pods.
func TestWhichFaultyPodIsNamed(t *testing.T) {
	bare := func(c *Cluster) {
		for i := 1; i < len(c.Pods); i++ {
			c.Pods[i].Requests = RequestsOf(&corev1.PodSpec{Containers: []corev1.Container{{Name: "proxy"}}})
		}
	}
	q := ask(10, cluster("west", 5, bare), cluster("east", 5, bare)).use("east", 50).use("west", 50)
	named := func(d Decision) string { return find(d.Status.Conditions, autoscalingv2.ScalingActive).Message }
	const message = "the HPA was unable to compute the replica count: failed to get cpu utilization: cluster east: missing request for cpu " +
		"in container proxy of Pod "
	same(t, "in order", message+"web-1", named(Decide(q)))

	slices.Reverse(q.Clusters)
	same(t, "with clusters in another order", message+"web-1", named(Decide(q)))

	for i := range q.Clusters {
		slices.Reverse(q.Clusters[i].Pods)
	}
	same(t, "with Pods in another order", message+"web-4", named(Decide(q)))
}

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Many autoscalers of one namespace, each with a workload of its own on the hub.
func (s *stage) manyAtOnce() {
	const many = 50
	s.queue("10")
	begin := time.Now()
	for i := range many {
		name := fmt.Sprintf("many-%02d", i)
		s.apply("hub", strings.ReplaceAll(webOf(s.kind, 1, true), "web", name))
		s.apply("hub", s.autoscalerOf(name, "minReplicas: 1, maxReplicas: 10, metrics: ["+s.byQueue(10)+"]"))
	}
	s.allAre(many, "1 Active 3/3")
	s.t.Logf("%d were made and seen within %v", many, time.Since(begin).Round(100*time.Millisecond))
	s.queue("30")
	begin = time.Now()
	s.allAre(many, "3 Active 3/3")
	s.t.Logf("%d have followed within %v", many, time.Since(begin).Round(100*time.Millisecond))
}

// allAre waits until all autoscalers show that many replicas, that state and
// those clusters.
func (s *stage) allAre(many int, want string) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("all %d are %s", many, want), func(ctx context.Context) error {
		list, err := s.autoscalers().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		right, example := 0, ""
		for _, item := range list.Items {
			desired, _, _ := unstructured.NestedInt64(item.Object, "status", "desiredReplicas")
			state, _, _ := unstructured.NestedString(item.Object, "status", "summary", "state")
			clusters, _, _ := unstructured.NestedString(item.Object, "status", "summary", "clusters")
			if got := fmt.Sprintf("%d %s %s", desired, state, clusters); got == want {
				right++
			} else {
				example = item.GetName() + " is " + got
			}
		}
		if right != many {
			return fmt.Errorf("%d are; %s", right, example)
		}
		return nil
	})
}

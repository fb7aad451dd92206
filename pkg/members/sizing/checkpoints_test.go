// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"strings"
	"testing"
)

// What VerticalPodAutoscalers have learned is read page by page; where that is not possible, it is said why.
func TestVPACheckpoints(t *testing.T) {
	const path = "GET /apis/autoscaling.k8s.io/v1/namespaces/shop/verticalpodautoscalercheckpoints"
	page := func(next, name string) string {
		return `{"kind":"VerticalPodAutoscalerCheckpointList","apiVersion":"autoscaling.k8s.io/v1","metadata":{"continue":"` + next +
			`"},"items":[{"kind":"VerticalPodAutoscalerCheckpoint","apiVersion":"autoscaling.k8s.io/v1","metadata":{"namespace":"shop","name":"` + name +
			`"}}]}`
	}
	s := newServer(t, "v2")
	s.Says(path, 200, page("more", "web-app"))
	s.Says(path+" more", 200, page("", "web-log"))
	all, err := s.join(t).VPACheckpoints(t.Context(), "shop")
	if err != nil || len(all) != 2 || all[0].GetName() != "web-app" || all[1].GetName() != "web-log" {
		t.Errorf("%v, %v", all, err)
	}
	s = newServer(t, "v2")
	s.Says(path, 200, page("more", "web-app"))
	s.Says(path+" more", 200, strings.Replace(page("", "web-log"), `{"kind":"VerticalPodAutoscalerCheckpoint",`,
		`{"kind":"VerticalPodAutoscalerCheckpoint","metadata":{"namespace":"bank","name":"web-log"}},`+
			`{"kind":"VerticalPodAutoscalerCheckpoint","metadata":{"namespace":"shop","name":"web-app"}},`+
			`{"kind":"VerticalPodAutoscalerCheckpoint",`, 1))
	all, err = s.join(t).VPACheckpoints(t.Context(), "shop")
	if err != nil || len(all) != 2 || all[1].GetName() != "web-log" {
		t.Errorf("with one of another namespace, and one that was there: %v, %v", all, err)
	}
	s = newServer(t, "v2")
	s.Says(path, 200, page("same", "web-app"))
	s.Says(path+" same", 200, page("same", "web-app"))
	if _, err := s.join(t).VPACheckpoints(t.Context(), "shop"); err == nil {
		t.Error("a list that never ends is read")
	}
	s = newServer(t, "v2")
	s.Says(path, 200, page("more", strings.Repeat("x", mostCheckpoints/2)))
	s.Says(path+" more", 200, page("", strings.Repeat("x", mostCheckpoints/2)))
	if _, err := s.join(t).VPACheckpoints(t.Context(), "shop"); err == nil || !strings.Contains(err.Error(), "they have more than") {
		t.Errorf("too many are read: %v", err)
	}
}

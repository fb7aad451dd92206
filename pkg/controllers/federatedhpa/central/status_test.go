// SPDX-License-Identifier: Apache-2.0

package central

import (
	"reflect"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// What is worth a write.
func TestWorthWriting(t *testing.T) {
	stored := func() *v1alpha1.FederatedHPAStatus {
		return &v1alpha1.FederatedHPAStatus{CurrentReplicas: 3, ReadyReplicas: new(int32(3)),
			Clusters: []v1alpha1.ClusterStatus{{Name: "east", MetricAgeSeconds: new(int32(15))}, {Name: "west"}},
			Stabilization: &v1alpha1.StabilizationStatus{ScaleDownRecommendations: []v1alpha1.Recommendation{{Time: metav1.NewMicroTime(start),
				Replicas: 5}, {Time: metav1.NewMicroTime(start.Add(period)), Replicas: 3}}}}
	}
	tests := map[string]struct {
		change func(*v1alpha1.FederatedHPAStatus)
		want   bool
	}{
		"nothing":                 {func(*v1alpha1.FederatedHPAStatus) {}, false},
		"replicas":                {func(s *v1alpha1.FederatedHPAStatus) { s.CurrentReplicas = 4 }, true},
		"what is no longer known": {func(s *v1alpha1.FederatedHPAStatus) { s.ReadyReplicas = nil }, true},
		"one cluster less":        {func(s *v1alpha1.FederatedHPAStatus) { s.Clusters = s.Clusters[:1] }, true},
		"another cluster":         {func(s *v1alpha1.FederatedHPAStatus) { s.Clusters[1].Name = "north" }, true},
		"a metric that ages":      {func(s *v1alpha1.FederatedHPAStatus) { *s.Clusters[0].MetricAgeSeconds = 74 }, false},
		"a metric that grew old":  {func(s *v1alpha1.FederatedHPAStatus) { *s.Clusters[0].MetricAgeSeconds = 75 }, true},
		"no metric any more":      {func(s *v1alpha1.FederatedHPAStatus) { s.Clusters[0].MetricAgeSeconds = nil }, true},
		"a metric at last":        {func(s *v1alpha1.FederatedHPAStatus) { s.Clusters[1].MetricAgeSeconds = new(int32(0)) }, true},
		"a recommendation repeated": {func(s *v1alpha1.FederatedHPAStatus) {
			s.Stabilization.ScaleDownRecommendations[1].Time = metav1.NewMicroTime(start.Add(time.Minute))
		}, false},
		"another recommendation": {func(s *v1alpha1.FederatedHPAStatus) { s.Stabilization.ScaleDownRecommendations[1].Replicas = 2 }, true},
		"an older one, repeated": {func(s *v1alpha1.FederatedHPAStatus) {
			s.Stabilization.ScaleDownRecommendations[0].Time = metav1.NewMicroTime(start.Add(1))
			s.Stabilization.ScaleDownRecommendations[0].Time = metav1.NewMicroTime(start.Add(time.Second))
		}, true},
		"one that counts no longer": {func(s *v1alpha1.FederatedHPAStatus) {
			s.Stabilization.ScaleDownRecommendations = s.Stabilization.ScaleDownRecommendations[1:]
		}, false},
		"a first memory of a change": {func(s *v1alpha1.FederatedHPAStatus) {
			s.Stabilization.ScaleUpEvents = []v1alpha1.ScaleEvent{{Time: metav1.NewMicroTime(start), Replicas: 1}}
		}, true},
		"no memory": {func(s *v1alpha1.FederatedHPAStatus) { s.Stabilization = nil }, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fresh := stored()
			tc.change(fresh)
			if got := worthWriting(stored(), fresh); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// Each field of a cluster tells something, but for the age of its metrics. A new one has to be compared, too.
func TestEachFieldOfAClusterIsCompared(t *testing.T) {
	kind := reflect.TypeFor[v1alpha1.ClusterStatus]()
	for i := range kind.NumField() {
		a, b := v1alpha1.ClusterStatus{}, v1alpha1.ClusterStatus{}
		for j, cluster := range []*v1alpha1.ClusterStatus{&a, &b} {
			field := reflect.ValueOf(cluster).Elem().Field(i)
			if !fillField(field, j) {
				t.Fatalf("%s is of a kind that this test does not know", kind.Field(i).Name)
			}
		}
		if got, ages := sameButForAge(a, b), kind.Field(i).Name == "MetricAgeSeconds"; got != ages {
			t.Errorf("%s differs: the clusters are taken for the same: %v", kind.Field(i).Name, got)
		}
		if !sameButForAge(a, *a.DeepCopy()) {
			t.Errorf("%s is the same, and the clusters are taken for different", kind.Field(i).Name)
		}
		if b = (v1alpha1.ClusterStatus{}); sameButForAge(a, b) != (kind.Field(i).Name == "MetricAgeSeconds") {
			t.Errorf("%s is there or not: it is not noticed", kind.Field(i).Name)
		}
	}
}

// fillField sets a field to one of several values.
func fillField(field reflect.Value, which int) bool {
	switch v := field.Addr().Interface().(type) {
	case **int32:
		*v = new(int32(which))
	case **int64:
		*v = new(int64(which))
	case **metav1.Time:
		*v = &metav1.Time{Time: start.Add(time.Duration(which) * time.Second)}
	case **autoscalingv2.HorizontalPodAutoscalerStatus:
		*v = &autoscalingv2.HorizontalPodAutoscalerStatus{DesiredReplicas: int32(which)}
	default:
		if field.Kind() != reflect.String {
			return false
		}
		field.SetString(strings.Repeat("x", which+1))
	}
	return true
}

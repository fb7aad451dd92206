// SPDX-License-Identifier: Apache-2.0

package central

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// The status has clusters that take no part, too, and of very many it has none.
func TestFactsAreOfTheClustersThatWereAsked(t *testing.T) {
	o := &outcome{}
	o.Object, o.recorded = &v1alpha1.FederatedHPA{}, &recording.Record{}
	for _, name := range []string{"b", "d", "e", "x"} {
		o.recorded.Question.Clusters = append(o.recorded.Question.Clusters, replicas.Cluster{Name: name})
	}
	status := &v1alpha1.FederatedHPAStatus{}
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		status.Clusters = append(status.Clusters, v1alpha1.ClusterStatus{
			Name: name, ReadyReplicas: new(int32(i)), MetricAgeSeconds: new(int32(10 * i))})
	}
	want := []recording.Facts{{Ready: new(int32(1)), Age: new(int32(10))}, {Ready: new(int32(3)), Age: new(int32(30))},
		{Ready: new(int32(4)), Age: new(int32(40))}, {}}
	if diff := cmp.Diff(want, o.finish(status).Facts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

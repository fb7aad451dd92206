// SPDX-License-Identifier: Apache-2.0

package selection

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

var noon = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

func TestRoom(t *testing.T) {
	c := Cluster{Additional: new(int32(5)), Pods: pods.Listing{Pods: make([]replicas.Pod, 3)}}
	for told, want := range map[int32]int32{0: 5, 3: 5, 4: 4, 8: 0, 100: 0} {
		if got := c.Room(told); *got != want {
			t.Errorf("with 3 Pods of %d, there is room for %d of 5, want %d", told, *got, want)
		}
	}
	if (&Cluster{}).Room(3) != nil {
		t.Error("room that is not known is known")
	}
}

func TestUnschedulableSince(t *testing.T) {
	stored := metav1.NewTime(noon.Add(-time.Hour))
	tests := map[string]struct {
		before *metav1.Time
		found  time.Time
		want   time.Time
	}{
		"as stored":     {&stored, noon.Add(-time.Minute), stored.Time},
		"by our clock":  {nil, noon.Add(-time.Minute), noon.Add(-3 * time.Minute)},
		"not known":     {nil, time.Time{}, noon},
		"never to come": {nil, noon.Add(time.Hour), noon},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := Cluster{ClockOffset: 2 * time.Minute, Pods: pods.Listing{UnschedulableSince: tc.found}}
			c.Before.UnschedulableSince = tc.before
			if got := c.UnschedulableSince(noon); !got.Time.Equal(tc.want) {
				t.Errorf("since %v, want %v", got, tc.want)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

const (
	partBytes     = v1alpha1.HistoryPartBytes - 4<<10 // of containers; the rest of an object is less than 4 KiB
	partLeast     = 16 << 10                          // parts are not made smaller, whatever the hub refuses
	mostInPart    = 4096                              // containers, as the API has it
	mostParts     = 256                               // of one object
	longestPrefix = 240                               // of the name of a part: the place follows
)

// workloadAnnotation says what workload a part is of.
const workloadAnnotation = "fleetscale.io/workload"

// stored is what the hub holds of a history.
type stored struct {
	parts []part
	// taken are names that cannot be used: of parts that cannot be read, which stay as they are, and of others' objects.
	taken map[string]bool
	limit int // bytes of one part
}

// part is an object that may be overwritten, as it was last seen.
type part struct {
	name, version string
	uid           types.UID
}

// split divides containers, in their order, into parts of at most so many bytes. One container is never divided.
func split(all []v1alpha1.ContainerHistory, limit int) ([][]v1alpha1.ContainerHistory, error) {
	var parts [][]v1alpha1.ContainerHistory
	begin, bytes := 0, 0
	for i := range all {
		text, err := json.Marshal(&all[i])
		if err != nil {
			return nil, fmt.Errorf("container %s in cluster %s: %w", all[i].Container, all[i].Cluster, err)
		}
		if more := len(text) + 1; i > begin && (bytes+more > limit || i-begin == mostInPart) {
			parts = append(parts, all[begin:i])
			begin, bytes = i, 0
		}
		bytes += len(text) + 1
	}
	if begin < len(all) {
		parts = append(parts, all[begin:])
	}
	return parts, nil
}

// written is how many parts the hub holds.
func (s *stored) written() int {
	n := 0
	for _, p := range s.parts {
		if p.version != "" {
			n++
		}
	}
	return n
}

// freeName is the first name that no part has.
func (s *stored) freeName(o Owner) string {
	prefix := o.Name
	if len(prefix) > longestPrefix {
		prefix = strings.TrimRight(prefix[:longestPrefix], "-.")
	}
	for n := 0; ; n++ {
		name := fmt.Sprintf("%s-%d", prefix, n)
		if !s.taken[name] && !s.has(name) {
			return name
		}
	}
}

func (s *stored) has(name string) bool {
	for _, p := range s.parts {
		if p.name == name {
			return true
		}
	}
	return false
}

func (s *stored) take(name string) {
	if s.taken == nil {
		s.taken = map[string]bool{}
	}
	s.taken[name] = true
}

// object is a part of the owner's history, as it is to be.
func (p part) object(o Owner, place, parts int, containers []v1alpha1.ContainerHistory, now time.Time,
) *v1alpha1.MultidimPodAutoscalerHistory {
	saved, isController := metav1.NewTime(now), true
	return &v1alpha1.MultidimPodAutoscalerHistory{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.Namespace, Name: p.name, UID: p.uid, ResourceVersion: p.version,
			Labels:      map[string]string{v1alpha1.ManagedByLabel: string(o.UID)},
			Annotations: map[string]string{workloadAnnotation: o.Workload},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.MultidimPodAutoscalerKind,
				Name: o.Name, UID: o.UID, Controller: &isController,
			}},
		},
		Status: v1alpha1.MultidimPodAutoscalerHistoryStatus{
			Part: int32(place), Parts: int32(parts), SavedTime: &saved, Containers: containers,
		},
	}
}

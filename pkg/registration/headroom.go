// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// headroomAnnotation of a registration, whatever its kind, says for how many replicas its cluster adds nodes.
const headroomAnnotation = "fleetscale.io/max-additional-replicas"

// reasonInvalidHeadroom: the annotation holds no number of replicas. The registration is used without it.
const reasonInvalidHeadroom fleet.Reason = "InvalidHeadroom"

const mostHeadroom = 1_000_000

// headroomOf returns how many replicas of each workload the cluster can host beyond what its nodes have room for, as it
// adds nodes; 0 if that is not said. A warning is for what is no such number; it counts as not said.
func headroomOf(object *metav1.ObjectMeta) (replicas int32, warnings []Fault) {
	text := strings.TrimSpace(object.Annotations[headroomAnnotation])
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n > mostHeadroom {
		return 0, []Fault{faultf(reasonInvalidHeadroom,
			"annotation %s: %q is no number of replicas and is ignored; write a whole number from 0 to %d, such as 20",
			headroomAnnotation, shorten(text), mostHeadroom)}
	}
	return int32(n), nil
}

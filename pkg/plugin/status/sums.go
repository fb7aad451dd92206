// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// sums is one line about all members: how many are in each state, and what is not as it should be.
func sums(members []v1alpha1.Member) string {
	states := map[v1alpha1.MemberState]int{}
	standings := map[string]int{}
	var readOnly, lacking, stale, pods int
	for i := range members {
		s := &members[i].Status
		states[s.State]++
		standings[s.Standing]++
		pods += int(s.MeasuredPods)
		switch v := s.ControllerManager; {
		case v != nil && v.Stale:
			stale++
		case lacks(s):
			lacking++
		case s.State == v1alpha1.MemberReady && !slices.Contains(s.Rights, "write"):
			readOnly++
		}
	}
	var parts []string
	for _, state := range []v1alpha1.MemberState{
		v1alpha1.MemberReady, v1alpha1.MemberSilent, v1alpha1.MemberJoining, v1alpha1.MemberSpare,
	} {
		if n := states[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ToLower(string(state))))
		}
	}
	for _, standing := range []string{"Cordoned", "Drained"} {
		if n := standings[standing]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ToLower(standing)))
		}
	}
	if readOnly > 0 {
		parts = append(parts, fmt.Sprintf("%d not written to", readOnly))
	}
	if lacking > 0 {
		parts = append(parts, fmt.Sprintf("%d with missing rights", lacking))
	}
	if stale > 0 {
		parts = append(parts, fmt.Sprintf("%d of which no controller-manager tells", stale))
	}
	return fmt.Sprintf("%s: %s; %d Pods measured", fleet.Counted(len(members), "member"), strings.Join(parts, ", "), pods)
}

// lacks is true of a member that is ready, and in which a credential of ours lacks rights.
func lacks(s *v1alpha1.MemberStatus) bool {
	return s.State == v1alpha1.MemberReady &&
		(len(s.MissingRights) > 0 || s.ControllerManager != nil && len(s.ControllerManager.MissingRights) > 0)
}

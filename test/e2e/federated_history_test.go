// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// mayReadPasts lets a user read what decisions were told, in the stage's namespace.
const mayReadPasts = `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: pasts}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: fleetscale-history-reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: historian}]`

// mayReadObjects lets the user read FederatedHPAs there, too.
const mayReadObjects = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: objects}
rules: [{apiGroups: [autoscaling.karmada.io], resources: [federatedhpas], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: objects}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: objects}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: historian}]`

// readsItsPast reads by the hub what the decisions of an autoscaler were told, and makes them again: as whoever may do all, and as one who
// may read that, and the autoscaler.
func (s *stage) readsItsPast() {
	s.t.Helper()
	s.replays("its decisions are made again", "", "all are as they were")
	s.replays("somebody may not read it", "cannot get resource \"federatedhpas/decisions\"", "", "--as=historian")
	s.apply("hub", mayReadPasts)
	s.replays("nor by that right alone", "needs the right to get federatedhpas.autoscaling.karmada.io, too", "", "--as=historian")
	s.apply("hub", mayReadObjects)
	s.replays("but by both", "", "all are as they were", "--as=historian")
}

// replays waits until a replay of the stage's autoscaler fails so, or says that.
func (s *stage) replays(what, fails, says string, flags ...string) {
	s.t.Helper()
	eventually(s.t, what, func(ctx context.Context) error {
		said, err := s.Fleetscale(ctx, append([]string{"replay", "fhpa/web", "-n", s.ns, "--set", "spec.maxReplicas=20"}, flags...)...)
		switch {
		case fails == "" && err == nil && strings.Contains(said.Stdout, says):
			return nil
		case fails != "" && err != nil && strings.Contains(err.Error(), fails):
			return nil
		case err == nil:
			err = errors.New("it ends well")
		}
		return fmt.Errorf("%w: %s", err, said.Stdout)
	})
}

// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"
	"strings"
	"testing"
)

// testSecondMember has another real cluster join, and the autoscaler divide the replicas of the worker among both. People see all Pods.
func (s *stage) testSecondMember(t *testing.T) {
	s.join(t, second)
	s.kubectl(t, "-n", shop, "patch", "federatedhpa", "worker", "--type=merge",
		`--patch={"spec": {"maxReplicas": 6, "replicaDistribution": {"type": "StaticWeighted"}}}`)
	s.awaitReady(t, member, 3)
	s.awaitReady(t, second, 3)
	var pods []string
	for _, name := range []string{member, second} {
		said := s.kubectl(t, "--context", name, "-n", shop, "get", "pods", "-o", "jsonpath={.items[*].metadata.name}")
		pods = append(pods, strings.Fields(said)...)
	}
	s.await(t, func(said string) error {
		if got, want := strings.Count(said, "worker-"), len(pods); got != want {
			return fmt.Errorf("there are %d Pods, want %d:\n%s", got, want, said)
		}
		return contains(pods...)(said)
	}, "top", "pods", "-n", shop)
	s.leave(t, second)
}

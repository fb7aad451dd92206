// SPDX-License-Identifier: Apache-2.0

package install

import (
	"path/filepath"
	"testing"

	"github.com/fleetscale/fleetscale/test/lab"
)

// TestInstall has the ways to install follow each other on the same clusters: each leaves them as they were.
func TestInstall(t *testing.T) {
	s := setUp(t, lab.Hub{RealNodes: 2, WithoutMetricsServer: true}, member, second)
	for _, way := range []struct {
		name    string
		install func(*testing.T)
	}{
		{"by kustomize", s.testKustomize},
		{"by Helm", s.testHelm},
		{"with cert-manager", s.testCertManager},
		{"with certificates that are given", s.testGiven},
	} {
		if !t.Run(way.name, way.install) {
			return
		}
	}
}

func (s *stage) testKustomize(t *testing.T) {
	kinds, overlay := filepath.Join(s.root, "deploy/crds"), s.overlay(t, "deploy/overlays/standalone")
	s.leavesNothing(t, func() {
		s.kubectl(t, "apply", "--server-side", "-k", kinds)
		s.kubectl(t, "apply", "--server-side", "-k", overlay)
		s.works(t, func() {
			t.Run("every program is rolled out", s.testRollouts)
			t.Run("a second member joins", s.testSecondMember)
		})
		s.kubectl(t, "delete", "-k", overlay)
		s.kubectl(t, "delete", "-k", kinds)
	})
}

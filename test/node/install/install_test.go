// SPDX-License-Identifier: Apache-2.0

package install

import (
	"path/filepath"
	"testing"
)

// TestInstall has the ways to install follow each other on the same clusters: each leaves them as they were.
func TestInstall(t *testing.T) {
	s := setUp(t)
	if t.Run("by kustomize", s.testKustomize) {
		t.Run("by Helm", s.testHelm)
	}
}

func (s *stage) testKustomize(t *testing.T) {
	kinds, overlay := filepath.Join(s.root, "deploy/crds"), s.overlay(t, "deploy/overlays/standalone")
	s.leavesNothing(t, func() {
		s.kubectl(t, "apply", "--server-side", "-k", kinds)
		s.kubectl(t, "apply", "--server-side", "-k", overlay)
		s.works(t, func() {
			t.Run("every program is rolled out", s.testRollouts)
		})
		s.kubectl(t, "delete", "-k", overlay)
		s.kubectl(t, "delete", "-k", kinds)
	})
}

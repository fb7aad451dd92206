// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"io/fs"
	"slices"
	"testing"

	"github.com/fleetscale/fleetscale/deploy"
	"github.com/fleetscale/fleetscale/pkg/grants"
)

// Every program and identity is granted something by the manifests that are built in.
func TestManifestsGrant(t *testing.T) {
	for _, of := range []struct {
		manifests fs.FS
		programs  []program
		want      string // a right of each
	}{
		{deploy.Hub, ourPrograms(), "create subjectaccessreviews.authorization.k8s.io"},
		{deploy.Member, ourIdentities(), "get namespaces kube-system in kube-system"},
	} {
		for _, p := range of.programs {
			rights, err := grants.To(of.manifests, p.folder, p.account, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(rights, func(r grants.Right) bool { return r.String() == of.want }) {
				t.Errorf("%s may not %s", p.account, of.want)
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package sources_test

import (
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// multiclusterRuntime is the Secret that multicluster-runtime's provider of kubeconfigs reads.
const multiclusterRuntime = `
apiVersion: v1
kind: Secret
metadata: {name: east, namespace: ` + fixture.RegistrationNamespace + `, labels: {sigs.k8s.io/multicluster-runtime-kubeconfig: "true"}}
data: {kubeconfig: %s}
`

func TestMulticlusterRuntime(t *testing.T) {
	e := shared.Of(t)
	e.hold(t, project{
		args:         []string{"--sources=secret,multicluster-runtime"},
		registration: "multicluster-runtime.east",
		manifest: func(token string) string {
			kubeconfig, err := e.member.TokenKubeconfig(token)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf(multiclusterRuntime, base64.StdEncoding.EncodeToString(kubeconfig))
		},
		object: []string{"-n", fixture.RegistrationNamespace, "secret/east"},
	})
}

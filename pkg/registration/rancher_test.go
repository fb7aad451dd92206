// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

// FuzzRancher holds for anything that a Cluster may say: whatever Secret is read is one beside it, by a name that can be one, and
// nothing of it is shown.
func FuzzRancher(f *testing.F) {
	ca, _ := registrationtest.SelfSigned()
	f.Add("east-kubeconfig", "", "s3cret")
	f.Add("east", "fleet-default", string(ca))
	f.Add("../kube-system/secrets/east", "kube-system", "users: [{user: {token: s3cret}}]")
	f.Fuzz(func(t *testing.T, name, namespace, data string) {
		c := &rancherCluster{Spec: rancherSpec{name, namespace}}
		c.Namespace, c.Name = "fleet-default", "east"
		ref := c.Credentials()
		if ref != (Reference{}) && (ref.Namespace != "fleet-default" || strings.ContainsAny(ref.Name, "/\x00")) {
			t.Errorf("it reads %v", ref)
		}
		r := c.Register(Credentials{Data: map[string][]byte{rancherKey: []byte(data)}})
		if !r.Refused() {
			checkHarmless(t, r.Endpoint)
			return
		}
		if message := r.Refusal().Error(); strings.Contains(message, "s3cret") && !strings.Contains(name+namespace, "s3cret") {
			t.Errorf("the refusal repeats a secret: %s", message)
		}
	})
}

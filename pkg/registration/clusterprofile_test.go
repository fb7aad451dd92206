// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

// profileWith is a ClusterProfile with one provider, to which its extension says this.
func profileWith(provider, extension string, access Access) *clusterProfile {
	ca, _ := registrationtest.SelfSigned()
	c := &clusterProfile{access: access, provider: accessProvider{Name: provider, Cluster: providedCluster{
		Server: "https://10.0.0.1", CertificateAuthorityData: ca,
		Extensions: []providedExtension{{Name: execExtension, Extension: json.RawMessage(extension)}},
	}}}
	c.Namespace, c.Name = "inventory", "east"
	return c
}

// The Secret is one beside the ClusterProfile, or none.
func TestSecretsOfClusterProfiles(t *testing.T) {
	tests := map[string]struct {
		provider, extension string
		access              Access
		want                string
	}{
		"of Open Cluster Management, to read":  {openClusterManagement, `{"clusterName":"c1"}`, Read, "inventory/c1-fleetscale-read token"},
		"of Open Cluster Management, to write": {openClusterManagement, `{"clusterName":"c1"}`, Write, "inventory/c1-fleetscale-write token"},
		"a token":                              {secretReader, `{"clusterName":"c1"}`, Read, "inventory/c1 token"},
		"a kubeconfig":                         {kubeconfigSecretReader, `{"name":"c1","key":"value"}`, Read, "inventory/c1 value"},
		"a kubeconfig, said to be here":        {kubeconfigSecretReader, `{"name":"c1","key":"value","namespace":"inventory"}`, Read, "inventory/c1 value"},
		"a kubeconfig of others":               {kubeconfigSecretReader, `{"name":"c1","key":"value","namespace":"kube-system"}`, Read, "/ "},
		"a token, said to be elsewhere":        {secretReader, `{"clusterName":"c1","namespace":"kube-system"}`, Read, "/ "},
		"a kubeconfig without a key":           {kubeconfigSecretReader, `{"name":"c1"}`, Read, "/ "},
		"a path":                               {secretReader, `{"clusterName":"../kube-system/secrets/c1"}`, Read, "/ "},
		"no cluster":                           {openClusterManagement, `{}`, Read, "/ "},
		"no object":                            {secretReader, `["c1"]`, Read, "/ "},
		"nothing":                              {secretReader, "", Read, "/ "},
		"a provider that runs a command":       {"", `{"clusterName":"c1"}`, Read, "/ "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := profileWith(tc.provider, tc.extension, tc.access)
			ref := c.Credentials()
			fleettest.Same(t, "Secret", tc.want, ref.Namespace+"/"+ref.Name+" "+ref.Keys[0])
			if r := c.Register(Credentials{Data: map[string][]byte{"token": []byte("s3cret")}}); ref == (Reference{}) && !r.Refused() {
				t.Error("it is accepted")
			}
		})
	}
}

// FuzzClusterProfile holds for anything that a ClusterProfile may say to a provider: whatever Secret is read is one beside it.
func FuzzClusterProfile(f *testing.F) {
	for _, extension := range []string{
		`{"clusterName":"c1"}`, `{"name":"c1","key":"value","namespace":"kube-system","context":"c"}`, `{"name":"a/b","key":"../token"}`, "null", "{",
	} {
		for _, provider := range []string{openClusterManagement, kubeconfigSecretReader, secretReader} {
			f.Add(provider, extension, "s3cret")
		}
	}
	f.Fuzz(func(t *testing.T, provider, extension, secret string) {
		c := profileWith(provider, extension, Read)
		ref := c.Credentials()
		if ref != (Reference{}) && (ref.Namespace != "inventory" || strings.ContainsAny(ref.Name+ref.Keys[0], "/\x00")) {
			t.Errorf("it reads %v", ref)
		}
		r := c.Register(Credentials{Data: map[string][]byte{ref.Keys[0]: []byte(secret)}})
		if !r.Refused() {
			checkHarmless(t, r.Endpoint)
			return
		}
		if message := r.Refusal().Error(); strings.Contains(message, "s3cret") && !strings.Contains(extension+provider, "s3cret") {
			t.Errorf("the refusal repeats a secret: %s", message)
		}
	})
}

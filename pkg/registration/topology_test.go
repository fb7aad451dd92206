// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

func TestRegistrationsSayWhereTheirClustersRun(t *testing.T) {
	ca, _ := registrationtest.SelfSigned()
	creds := Credentials{Data: map[string][]byte{"token": []byte("s3cret"), "caBundle": ca}}
	labels := map[string]string{corev1.LabelTopologyRegion: "eu", corev1.LabelTopologyZone: "eu-1"}
	declared := karmadaSpec{Provider: "acme", Region: "us", Zones: []string{"us-1"}}
	tests := map[string]struct {
		annotations map[string]string
		labels      map[string]string
		spec        karmadaSpec // of a Karmada Cluster
		wantSecret  Topology
		wantCluster Topology
	}{
		"nothing": {},
		"labels": {
			labels:     labels,
			wantSecret: Topology{Region: "eu", Zones: []string{"eu-1"}}, wantCluster: Topology{Region: "eu", Zones: []string{"eu-1"}},
		},
		"annotations, which go before labels": {
			annotations: map[string]string{"fleetscale.io/provider": "on-premises", "fleetscale.io/region": "berlin",
				"fleetscale.io/zones": "b-1, b-2,"},
			labels:      labels,
			wantSecret:  Topology{Provider: "on-premises", Region: "berlin", Zones: []string{"b-1", "b-2"}},
			wantCluster: Topology{Provider: "on-premises", Region: "berlin", Zones: []string{"b-1", "b-2"}},
		},
		"one annotation, and labels for the rest": {
			annotations: map[string]string{"fleetscale.io/provider": " on-premises ", "fleetscale.io/zones": " , "},
			labels:      labels,
			wantSecret:  Topology{Provider: "on-premises", Region: "eu", Zones: []string{"eu-1"}},
			wantCluster: Topology{Provider: "on-premises", Region: "eu", Zones: []string{"eu-1"}},
		},
		"the spec of a Karmada Cluster, which goes before annotations": {
			annotations: map[string]string{"fleetscale.io/provider": "on-premises", "fleetscale.io/region": "berlin", "fleetscale.io/zones": "b-1"},
			spec:        declared,
			wantSecret:  Topology{Provider: "on-premises", Region: "berlin", Zones: []string{"b-1"}},
			wantCluster: Topology{Provider: "acme", Region: "us", Zones: []string{"us-1"}},
		},
		"a part of the spec of a Karmada Cluster": {
			annotations: map[string]string{"fleetscale.io/provider": "on-premises", "fleetscale.io/region": "berlin"},
			spec:        karmadaSpec{Zones: []string{"us-1"}},
			wantSecret:  Topology{Provider: "on-premises", Region: "berlin"},
			wantCluster: Topology{Provider: "on-premises", Region: "berlin", Zones: []string{"us-1"}},
		},
		"as long as a fieldSelector can name it": {
			annotations: map[string]string{"fleetscale.io/provider": strings.Repeat("p", 253),
				"fleetscale.io/zones": strings.Repeat("z,", 99) + "z"},
			wantSecret:  Topology{Provider: strings.Repeat("p", 253), Zones: strings.Split(strings.Repeat("z,", 99)+"z", ",")},
			wantCluster: Topology{Provider: strings.Repeat("p", 253), Zones: strings.Split(strings.Repeat("z,", 99)+"z", ",")},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			secret := register(t, registrationtest.Secret(registrationtest.Kubeconfig(t), func(s *corev1.Secret) {
				s.Annotations = tc.annotations
				maps.Copy(s.Labels, tc.labels)
			}), Options{})
			cluster := karmadaWith(func(c *karmadaCluster) {
				c.Annotations, c.Labels = tc.annotations, tc.labels
				c.Spec.Provider, c.Spec.Region, c.Spec.Zones = tc.spec.Provider, tc.spec.Region, tc.spec.Zones
			}).Register(creds)
			if secret.Refused() || cluster.Refused() {
				t.Fatalf("refused: %v, %v", secret.Faults, cluster.Faults)
			}
			fleettest.Same(t, "of a Secret", tc.wantSecret, secret.Topology)
			fleettest.Same(t, "of a Karmada Cluster", tc.wantCluster, cluster.Topology)
		})
	}
}

func TestRegistrationsWithPlacesThatAreNoneAreRefused(t *testing.T) {
	ca, _ := registrationtest.SelfSigned()
	creds := Credentials{Data: map[string][]byte{"token": []byte("s3cret"), "caBundle": ca}}
	tests := map[string]struct{ annotation, value, want string }{
		"too long": {
			"fleetscale.io/provider", strings.Repeat("p", 254),
			`InvalidTopology: annotation fleetscale.io/provider: "` + strings.Repeat("p", 80) +
				`…" is too long or not printable; write at most 253 bytes of printable characters`,
		},
		"not printable": {
			"fleetscale.io/region", "eu\nlevel=error",
			`InvalidTopology: annotation fleetscale.io/region: "eu\nlevel=error" is too long or not printable; write at most 253 bytes of printable characters`,
		},
		"one of the zones": {
			"fleetscale.io/zones", "eu-1,eu\x00",
			`InvalidTopology: annotation fleetscale.io/zones: "eu\x00" is too long or not printable; write at most 253 bytes of printable characters`,
		},
		"too many zones": {
			"fleetscale.io/zones", strings.Repeat("z,", 100),
			"InvalidTopology: annotation fleetscale.io/zones: it names 101 zones; name at most 100",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			secret := register(t, registrationtest.Secret(registrationtest.Kubeconfig(t), registrationtest.Annotated(tc.annotation, tc.value)),
				Options{})
			cluster := karmadaWith(func(c *karmadaCluster) {
				c.Annotations = map[string]string{tc.annotation: tc.value}
			}).Register(creds)
			for _, r := range []Registration{secret, cluster} {
				if !r.Refused() {
					t.Fatalf("%s is accepted", r)
				}
				fleettest.Same(t, fmt.Sprintf("refusal of %s", r), tc.want, r.Refusal().Error())
			}
		})
	}
}

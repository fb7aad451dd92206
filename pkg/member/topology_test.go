// SPDX-License-Identifier: Apache-2.0

package member

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
)

func TestRegistrationsSayWhereTheirClustersRun(t *testing.T) {
	ca, _ := selfSigned()
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
			annotations: map[string]string{"fleetscale.io/provider": "on-premises", "fleetscale.io/region": "berlin", "fleetscale.io/zones": "b-1, b-2,"},
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
			annotations: map[string]string{"fleetscale.io/provider": strings.Repeat("p", 253), "fleetscale.io/zones": strings.Repeat("z,", 99) + "z"},
			wantSecret:  Topology{Provider: strings.Repeat("p", 253), Zones: strings.Split(strings.Repeat("z,", 99)+"z", ",")},
			wantCluster: Topology{Provider: strings.Repeat("p", 253), Zones: strings.Split(strings.Repeat("z,", 99)+"z", ",")},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			secret := parseSecret(secretWith(kubeconfigWith(t), func(s *corev1.Secret) {
				s.Annotations = tc.annotations
				maps.Copy(s.Labels, tc.labels)
			}), Read, Policy{})
			cluster := parseCluster(karmadaWith(func(c *karmadaCluster) {
				c.Annotations, c.Labels = tc.annotations, tc.labels
				c.Spec.Provider, c.Spec.Region, c.Spec.Zones = tc.spec.Provider, tc.spec.Region, tc.spec.Zones
			}), credentials{secret: karmadaSecret(ca, "s3cret")}, Policy{})
			if secret.refused() || cluster.refused() {
				t.Fatalf("refused: %v, %v", secret.faults, cluster.faults)
			}
			if diff := cmp.Diff(tc.wantSecret, secret.topology); diff != "" {
				t.Errorf("of a Secret (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantCluster, cluster.topology); diff != "" {
				t.Errorf("of a Karmada Cluster (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRegistrationsWithPlacesThatAreNoneAreRefused(t *testing.T) {
	ca, _ := selfSigned()
	tests := map[string]struct{ annotation, value, want string }{
		"too long": {
			"fleetscale.io/provider", strings.Repeat("p", 254),
			`InvalidTopology: annotation fleetscale.io/provider: "` + strings.Repeat("p", 80) + `…" is too long or not printable; write at most 253 bytes of printable characters`,
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
			secret := parseSecret(secretWith(kubeconfigWith(t), annotated(tc.annotation, tc.value)), Read, Policy{})
			cluster := parseCluster(karmadaWith(func(c *karmadaCluster) {
				c.Annotations = map[string]string{tc.annotation: tc.value}
			}), credentials{secret: karmadaSecret(ca, "s3cret")}, Policy{})
			for _, r := range []registration{secret, cluster} {
				if !r.refused() {
					t.Fatalf("%s is accepted", r.describe())
				}
				if diff := cmp.Diff(tc.want, r.refusal().Error()); diff != "" {
					t.Errorf("refusal of %s (-want +got):\n%s", r.describe(), diff)
				}
			}
		})
	}
}

// The example that fills our own data centre before the cloud does so for clusters that Secrets register.
func TestDocumentedProvidersAreFilledInTheirOrder(t *testing.T) {
	object := &v1alpha1.FederatedHPA{}
	if err := yaml.UnmarshalStrict([]byte(readFile(t, "../../docs/examples/distributed.yaml")), object); err != nil {
		t.Fatal(err)
	}
	var facts []assignment.ClusterFacts
	for name, provider := range map[string]string{"cellar": "on-premises", "sky": "acme", "untold": ""} {
		r := parseSecret(secretWith(kubeconfigWith(t), named(name), annotated("fleetscale.io/provider", provider), func(s *corev1.Secret) {
			s.Labels["tier"] = "production"
		}), Read, Policy{})
		facts = append(facts, assignment.ClusterFacts{Name: name, Labels: r.labels, Provider: r.topology.Provider})
	}
	a := object.Spec.FederatedHPAAssignment
	policy := assignment.Policy(a.FederatedHPAAssignmentType)
	preferences, err := assignment.Preferences(policy, a.ClusterAutoscalingPreference, facts)
	if err != nil {
		t.Fatal(err)
	}
	q := assignment.AssignQuestion{Policy: policy, UID: "uid", Min: *object.Spec.MinReplicas, Max: object.Spec.MaxReplicas}
	for _, f := range facts {
		if selected, err := assignment.Matches(object.Spec.ClusterAffinity, f); err != nil || !selected {
			t.Errorf("%s is not selected: %v", f.Name, err)
		}
		capacity := map[string]int32{"cellar": 20, "sky": 30, "untold": 5}[f.Name]
		q.Clusters = append(q.Clusters, assignment.Cluster{Name: f.Name, Preference: preferences[f.Name], Capacity: &capacity})
	}
	got := map[string]int32{}
	for name, b := range assignment.Assign(q).Bounds {
		got[name] = b.Max
	}
	if diff := cmp.Diff(map[string]int32{"cellar": 20, "sky": 19, "untold": 1}, got); diff != "" {
		t.Errorf("maxima (-want +got):\n%s", diff)
	}
}

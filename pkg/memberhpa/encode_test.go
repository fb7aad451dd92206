// SPDX-License-Identifier: Apache-2.0

package memberhpa

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

var update = flag.Bool("update", false, "write testdata/*.json")

var versions = []string{v2, v2beta2}

// TestEncodeGolden compares what is sent, to the byte but for white space, with testdata/<case>.<version>.json.
func TestEncodeGolden(t *testing.T) {
	every := metrics(cpu(60), ofResource("memory", average("1536Mi")), ofPods("requests_per_second", average("1500m")),
		ofObject("main", "hits", value("2k")), ofExternal("queue", average("30")))
	own := behaving(rulesOf(30, "Min", "0.05", podsIn(1, 60)), rulesOf(600, "", "0.2", podsIn(2, 90), percentIn(10, 60)))
	for name, hpa := range map[string]*autoscalingv2.HorizontalPodAutoscaler{
		"plain":     Render(federated(), "web", part{Min: 2, Max: 9}),
		"held":      Render(federated(), "web", part{Min: 2, Max: 9, Hold: true}),
		"waiting":   Render(federated(), "web", part{Min: 2, Max: 9, Window: 7 * time.Minute}),
		"from-zero": Render(federated(metrics(ofExternal("queue", value("30")))), "web", part{Min: 1, Max: 9, Bumped: true}),
		"all":       Render(federated(every, own), "web", part{Min: 2, Max: 9}),
	} {
		for _, version := range versions {
			t.Run(name+" in "+version, func(t *testing.T) {
				path := filepath.Join("testdata", name+"."+strings.TrimPrefix(version, "autoscaling/")+".json")
				golden(t, path, encode(t, hpa, version))
			})
		}
	}
}

func golden(t *testing.T, path string, body []byte) {
	t.Helper()
	var text bytes.Buffer
	if err := json.Indent(&text, body, "", "  "); err != nil {
		t.Fatal(err)
	}
	text.WriteByte('\n')
	if *update {
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Errorf("%s (-want +got); -update writes it again:\n%s", path, diff)
	}
}

func encode(t *testing.T, hpa *autoscalingv2.HorizontalPodAutoscaler, version string) []byte {
	t.Helper()
	body, err := Encode(hpa, version)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestEncodeRefusals(t *testing.T) {
	container := Render(federated(metrics(cpu(50), ofContainer("cpu", "app", utilization(50)))), "web", part{Min: 1, Max: 2})
	tests := map[string]struct {
		hpa           *autoscalingv2.HorizontalPodAutoscaler
		version       string
		want          Unsupported
		wantInMessage string
	}{
		"a container's resource in v2beta2": {container, v2beta2, Unsupported{v2beta2, "spec.metrics[1].containerResource"},
			"writing a HorizontalPodAutoscaler: autoscaling/v2beta2 has no spec.metrics[1].containerResource; use a Resource metric, or a " +
				"cluster with Kubernetes 1.27 or later"},
		"another version": {container, "autoscaling/v1", Unsupported{"autoscaling/v1", ""},
			`writing a HorizontalPodAutoscaler: the cluster offers version "autoscaling/v1"; it must serve autoscaling/v2 or autoscaling/v2beta2`},
		"no version": {container, "", Unsupported{"", ""},
			`writing a HorizontalPodAutoscaler: the cluster offers version ""; it must serve autoscaling/v2 or autoscaling/v2beta2`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Encode(tc.hpa, tc.version)
			var got *Unsupported
			if !errors.As(err, &got) || *got != tc.want || err.Error() != tc.wantInMessage {
				t.Errorf("got error %v, want %+v: %s", err, tc.want, tc.wantInMessage)
			}
		})
	}
	if _, err := Encode(container, v2); err != nil {
		t.Errorf("a container's resource in v2: %v", err)
	}
}

func TestEncodeSendsNothingThatTheServerFillsIn(t *testing.T) {
	hpa := Render(federated(), "web", part{Min: 1, Max: 2})
	want := encode(t, hpa, v2)
	hpa.Generation = 7
	hpa.CreationTimestamp = metav1.Now()
	hpa.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	hpa.OwnerReferences = []metav1.OwnerReference{{Name: "owner"}}
	hpa.Status.DesiredReplicas = 4
	fleettest.Same(t, "", string(want), string(encode(t, hpa, v2)))
	hpa.UID, hpa.ResourceVersion = types.UID("1234"), "56" // those are preconditions
	named := strings.Replace(string(want), `"namespace":"shop",`, `"namespace":"shop","uid":"1234","resourceVersion":"56",`, 1)
	fleettest.Same(t, "with preconditions", named, string(encode(t, hpa, v2)))
}

// What is decoded is what was encoded, less the tolerances in v2beta2; and encoding it changes nothing of it.
func TestEncodeDecodes(t *testing.T) {
	for seed := range int64(fleettest.Rounds(500, 5)) {
		hpa := Render(anyFederated(rand.New(rand.NewSource(seed))))
		for _, version := range versions {
			before := hpa.DeepCopy()
			body, err := Encode(hpa, version)
			if diff := fleettest.Diff(before, hpa); diff != "" {
				t.Fatalf("seed %d, %s: Encode changed its argument (-before +after):\n%s", seed, version, diff)
			}
			if version == v2beta2 && strings.Contains(string(encode(t, hpa, v2)), "containerResource") {
				if err == nil {
					t.Fatalf("seed %d: a container's resource was written in v2beta2", seed)
				}
				continue
			}
			want := hpa.DeepCopy()
			want.APIVersion = version
			if version == v2beta2 {
				for _, rules := range directions(want.Spec.Behavior) {
					rules.Tolerance = nil
				}
			}
			got := &autoscalingv2.HorizontalPodAutoscaler{}
			if err := json.Unmarshal(body, got); err != nil {
				t.Fatal(err)
			}
			if diff := fleettest.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, %s (-encoded +decoded):\n%s", seed, version, diff)
			}
		}
	}
}

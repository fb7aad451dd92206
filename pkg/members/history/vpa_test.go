// SPDX-License-Identifier: Apache-2.0

package history

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// vpaCheckpoint is one as VPA 1.8 writes it.
func vpaCheckpoint(t *testing.T, change func(status map[string]any)) *unstructured.Unstructured {
	t.Helper()
	status := map[string]any{
		"lastUpdateTime": "2026-11-22T11:59:30Z", "version": "v3", "firstSampleStart": "2026-11-12T00:00:00Z",
		"lastSampleStart": "2026-11-22T11:59:00Z", "totalSamplesCount": int64(15000),
		"cpuHistogram": map[string]any{"referenceTimestamp": "2026-11-22T00:00:00Z", "totalWeight": 231.5,
			"bucketWeights": map[string]any{"34": int64(10000), "35": int64(120)}},
		"memoryHistogram": map[string]any{"referenceTimestamp": "2026-11-23T00:00:00Z", "totalWeight": float64(2),
			"bucketWeights": map[string]any{"40": int64(10000)}},
	}
	if change != nil {
		change(status)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscalerCheckpoint",
		"metadata": map[string]any{"namespace": "shop", "name": "web-vpa-app"},
		"spec":     map[string]any{"vpaObjectName": "web-vpa", "containerName": "app"}, "status": status,
	}}
}

func TestImport(t *testing.T) {
	c, err := FromVPA(vpaCheckpoint(t, nil), noon)
	if err != nil || c.VPA != "web-vpa" || c.Container != "app" || c.Use.Samples != 15000 {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := New(newHub(t), time.Minute).Import(web(), "east", c); err == nil || err.Error() != "importing container app in cluster east "+
		"for MultidimPodAutoscaler shop/web: its history has not been loaded: nothing has been read yet" {
		t.Errorf("before it is loaded: %v", err)
	}
	hub := newHub(t)
	s := started(t, hub, noon)
	for _, first := range []bool{true, false} {
		if taken, err := s.Import(web(), "east", c); err != nil || taken != first {
			t.Errorf("taken %t, want %t: %v", taken, first, err)
		}
	}
	feed(t, s, at(0).saw("east", of(1, 10, mi)))
	before := advise(t, s, sizes.Advice{})
	if before.Samples != 15001 || before.Fleet.Target[sizes.CPU] < 900 || before.Fleet.Target[sizes.Memory] < gi {
		t.Errorf("advice %+v", before)
	}
	if err := save(t, s, noon); err != nil {
		t.Fatal(err)
	}
	again := started(t, hub, noon)
	feed(t, again, at(time.Minute).saw("east", of(1, 10, mi)))
	near(t, 0, Advice{Fleet: before.Fleet}, Advice{Fleet: advise(t, again, sizes.Advice{}).Fleet})
}

func TestFromVPASaysWhatIsWrong(t *testing.T) {
	for name, change := range map[string]func(map[string]any){
		`checkpoint of version "v2": want v3`: func(status map[string]any) { status["version"] = "v2" },
		"which is in the future":              func(status map[string]any) { status["lastSampleStart"] = "2027-11-22T11:59:00Z" },
		"cannot unmarshal":                    func(status map[string]any) { status["cpuHistogram"] = "none" },
	} {
		_, err := FromVPA(vpaCheckpoint(t, change), noon)
		const where = `VerticalPodAutoscalerCheckpoint shop/web-vpa-app of container "app": `
		if err == nil || !strings.HasPrefix(err.Error(), where) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s%s", err, where, name)
		}
	}
}

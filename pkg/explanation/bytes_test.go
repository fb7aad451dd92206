// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/compact/heaptest"
)

// What an explanation adds to an object: bytes on the wire and on disk, in JSON, and of the heap of who caches the object. A
// FederatedHPA in central mode has one metric here, and three clusters.
func TestBytesInCaches(t *testing.T) {
	var central *v1alpha1.DecisionExplanation
	for seed := uint64(0); central == nil || len(central.Metrics) != 1 || len(central.Metrics[0].Clusters) != 3; seed++ {
		central = Of(decided(randomQuestion(rand.New(rand.NewPCG(seed, 1)))))
	}
	cached(t, "central mode, 1 metric, 3 clusters", central)
	for _, clusters := range []int{3, 8, 50} {
		w := newSplits(rand.New(rand.NewPCG(4, 4)), clusters)
		w.decide()
		_, e := w.decide()
		cached(t, fmt.Sprintf("distributed mode, %d clusters", clusters), e)
	}
	template, grounds := randomTemplate(rand.New(rand.NewPCG(3, 8)))
	template.Containers = template.Containers[:1]
	cached(t, "sizes of 1 container", OfSizes(template, grounds, start))
}

// cached prints how much an explanation takes.
func cached[T any](t *testing.T, name string, e *T) {
	t.Helper()
	encoded, err := json.Marshal(e)
	if err != nil || len(encoded) > mostBytes {
		t.Fatalf("%s: %d bytes, %v", name, len(encoded), err)
	}
	const copies = 500
	all := make([]T, copies)
	before := heaptest.InUse()
	for i := range all {
		if err := json.Unmarshal(encoded, &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	each := int(heaptest.InUse()-before)/copies + int(unsafe.Sizeof(all[0]))
	runtime.KeepAlive(all)
	t.Logf("%-36s %5d bytes in JSON, %5d of heap", name, len(encoded), each)
	if each > 4*mostBytes {
		t.Errorf("%s: %d bytes of heap", name, each)
	}
}

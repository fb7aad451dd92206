// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"flag"
	"testing"
	"time"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

var (
	seed       = flag.Uint64("seed", 0, "what scenarios are drawn by; 0: the time")
	reconciles = flag.Int("reconciles", enough, "how many reconciles are compared at least")
)

// What is rarest is nearly always reached often in enough reconciles; where it is not, there are more, and most are so many
// times enough that it is for every seed.
const (
	some   = 20_000 // in the short form, which does not ask how often
	enough = 50_000
	often  = 20
	most   = 4
)

func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil // they would print what fails on purpose, and take time
	klog.SetLogger(logr.Discard())
	m.Run()
}

func TestDecisionsAreThoseOfKubernetes(t *testing.T) {
	seed := *seed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	if testing.Short() {
		*reconciles = min(*reconciles, some)
	}
	t.Logf("-seed %d", seed)
	seen := tally{}
	more := func() bool { // a rare outcome is waited for
		return seen["reconciles"] < *reconciles || *reconciles >= enough && seen["reconciles"] < most*enough && len(seen.lacking(often)) > 0
	}
	for number := uint64(0); more(); number++ {
		if difference := scenario(t, seed, number, seen); difference != "" {
			t.Fatalf("-seed %d, scenario %d: %s", seed, number, difference)
		}
	}
	t.Logf("%d reconciles", seen["reconciles"])
	if *reconciles >= enough {
		for what, times := range seen.lacking(often) {
			t.Errorf("-seed %d: reached only %d times: %s", seed, times, what)
		}
	}
}

func FuzzDecide(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, seed, number uint64) {
		if difference := scenario(t, seed, number, tally{}); difference != "" {
			t.Fatalf("-seed %d, scenario %d: %s", seed, number, difference)
		}
	})
}

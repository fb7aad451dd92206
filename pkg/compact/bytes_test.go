// SPDX-License-Identifier: Apache-2.0

package compact

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/compact/heaptest"
)

type leaf struct {
	name string
	next *leaf
	all  map[string]string
	list []leaf
	any  any
	pair [2]string
}

func TestBytes(t *testing.T) {
	long := strings.Repeat("x", 1000)
	grown := map[string]string{}
	for i := range 100 {
		grown[fmt.Sprint(i)] = long
	}
	tests := map[string]struct {
		value    any
		from, to int64
	}{
		"nothing":       {value: nil},
		"a number":      {value: 7, from: 8, to: 8},
		"text":          {value: long, from: 1016, to: 1040},
		"behind names":  {value: leaf{name: long, next: &leaf{name: long}, any: long}, from: 3000, to: 3700},
		"a map":         {value: grown, from: 100_000, to: 115_000},
		"a list":        {value: []leaf{{name: long}, {pair: [2]string{long, long}}}, from: 3000, to: 3700},
		"a nil map":     {value: leaf{all: nil}, from: 100, to: 200},
		"a time's zone": {value: time.Now(), from: 24, to: 24},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Bytes(tc.value); got < tc.from || got > tc.to {
				t.Errorf("%d bytes, want %d to %d", got, tc.from, tc.to)
			}
		})
	}
}

// What is estimated is not far from what the heap grows by.
func TestBytesAreThoseOfTheHeap(t *testing.T) {
	build := func() []leaf {
		all := make([]leaf, 2000)
		for i := range all {
			all[i] = leaf{name: fmt.Sprintf("%0200d", i), next: &leaf{}, all: map[string]string{}, list: make([]leaf, 3)}
			for k := range 10 {
				all[i].all[fmt.Sprint(k)] = fmt.Sprintf("%0100d", i)
			}
		}
		return all
	}
	heaptest.Check(t, func() error {
		before := heaptest.InUse()
		all := build()
		grown := heaptest.InUse() - before
		defer runtime.KeepAlive(all)
		if got := Bytes(all); got < grown*2/3 || got > grown*3/2 {
			return fmt.Errorf("%d bytes estimated, %d taken", got, grown)
		}
		return nil
	})
}

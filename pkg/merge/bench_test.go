// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"strconv"
	"testing"
)

func BenchmarkObjects(b *testing.B) {
	parts := objects{}
	for i := range 2000 {
		cluster := fmt.Sprint("cluster", i%10)
		parts[cluster] = append(parts[cluster], object(fmt.Sprint("web-", i/10), fmt.Sprint(i*37, "m")))
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(Objects(parts)) != 2000 {
			b.Fatal("items are missing")
		}
	}
}

func BenchmarkSeries(b *testing.B) {
	for _, word := range words {
		b.Run(string(word), func(b *testing.B) {
			parts := seriesMap{}
			for i := range 5000 {
				cluster := fmt.Sprint("cluster", i%10)
				labels := map[string]string{"queue": strconv.Itoa(i / 10), "region": "eu", "vhost": "shop"}
				parts[cluster] = append(parts[cluster], external(fmt.Sprint(i*37, "m"), labels))
			}
			b.ReportAllocs()
			for b.Loop() {
				if len(Series(word, parts)) != 500 {
					b.Fatal("series are missing")
				}
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package sizes

import "math"

// A scheme divides values into buckets, each larger than the one before by the same ratio. It is the size of the first
// bucket. The schemes are those of VPA's checkpoints of version v3.
type scheme float64

const (
	cpuScheme    scheme = 0.01 // cores
	memoryScheme scheme = 1e7  // bytes
)

// ratio is by what a bucket is larger than the one before.
const ratio float64 = 1.05

// buckets is how many there are: the last one begins above 1000 cores, or 1 TB, and holds whatever is larger.
const buckets = 176

// bucket is where a value lies.
func (s scheme) bucket(value float64) int {
	if value < float64(s) {
		return 0
	}
	return min(int(math.Log(value*(ratio-1)/float64(s)+1)/math.Log(ratio)), buckets-1)
}

// end is the value up to which a bucket reaches; that of the last one is where it begins.
func (s scheme) end(bucket int) float64 {
	return float64(s) * (math.Pow(ratio, float64(min(bucket+1, buckets-1))) - 1) / (ratio - 1)
}

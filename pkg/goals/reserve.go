// SPDX-License-Identifier: Apache-2.0

package goals

// Pressure is for how many samples in a row a Pod has used nearly all that it requests, or more: on a full node it gets no more,
// so that more load does not show. The zero value knows of none.
type Pressure struct{ samples int }

// lasting is how many samples are more than a peak: five minutes, with one a minute.
const lasting = 5

// Next returns the pressure after one more sample: used and requested are of the Pod, and advised is what it would request if it
// had not been under pressure. It lasts until the Pod uses clearly less than that, lest the Pod shrinks only to grow again.
func (p Pressure) Next(used, requested, advised int64) Pressure {
	switch {
	case used > requested-requested/20:
		return Pressure{min(lasting, p.samples+1)}
	case p.samples == lasting && used > advised-advised/10:
		return p
	}
	return Pressure{}
}

// Reserves reports whether a Pod requests at least the floors: whenever more replicas are wanted than the minimum, since these
// are there for load; and if it has lastingly used what it requests. At the minimum others may shrink.
func Reserves(wanted, minimum int32, p Pressure) bool {
	return wanted > minimum || p.Lasts()
}

// Lasts reports whether it is more than a peak.
func (p Pressure) Lasts() bool { return p.samples == lasting }

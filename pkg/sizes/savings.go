// SPDX-License-Identifier: Apache-2.0

package sizes

// Price is what an hour costs: of a core, and of a GiB of memory.
type Price struct{ Core, GiB float64 }

// PriceOf returns what an hour costs in a cluster: what is said of the cluster itself, where that is not nil, and else the
// default, of which 0 is none. It is not known unless both parts are: what one part costs must not pass for the whole.
func PriceOf(core, gib *float64, defaults Price) (price Price, known bool) {
	if core == nil && defaults.Core == 0 || gib == nil && defaults.GiB == 0 {
		return Price{}, false
	}
	price = defaults
	if core != nil {
		price.Core = *core
	}
	if gib != nil {
		price.GiB = *gib
	}
	return price, true
}

// Savings compares what Pods request with what they should.
type Savings struct {
	// Requested is what they request now, Advised what they would.
	Requested, Advised Amounts
	// Money is what an hour would cost less; negative if it would cost more.
	Money float64
}

// Less are the amounts by which requests would become less; negative where they would become more.
func (s Savings) Less() Amounts {
	return Amounts{s.Requested[CPU] - s.Advised[CPU], s.Requested[Memory] - s.Advised[Memory]}
}

// SavingsOf returns the savings of these Pods, if all of them were of the sizes that they should be. A container that is
// not sized, or requests nothing now, is counted as it would be.
func SavingsOf(pods []Running, price Price) (s Savings) {
	for n := range pods {
		for _, c := range pods[n].Containers {
			for r := range resources {
				requested, advised := max(0, c.Requests[r]), c.Size.Target[r]
				if advised < 0 {
					advised = requested
				}
				s.Requested[r] = plus(s.Requested[r], requested)
				s.Advised[r] = plus(s.Advised[r], advised)
			}
		}
	}
	less := s.Less()
	s.Money = price.Core*float64(less[CPU])/1000 + price.GiB*float64(less[Memory])/(1<<30)
	return s
}

// plus is the sum of two that are not negative, and at most what Pods of a whole fleet can have together.
func plus(a, b int64) int64 { return min(a, mostTogether) + min(b, mostTogether-min(a, mostTogether)) }

// mostTogether is 10,000 times most.
const mostTogether = most * 10_000

// Add adds the savings of other Pods.
func (s Savings) Add(o Savings) Savings {
	for r := range resources {
		s.Requested[r] = plus(s.Requested[r], o.Requested[r])
		s.Advised[r] = plus(s.Advised[r], o.Advised[r])
	}
	s.Money += o.Money
	return s
}

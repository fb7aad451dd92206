// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	"k8s.io/metrics/pkg/apis/external_metrics"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

type (
	objects   = map[string][]custom_metrics.MetricValue
	seriesMap = map[string][]external_metrics.ExternalMetricValue
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) metav1.Time {
	return metav1.NewTime(noon.Add(time.Duration(seconds) * time.Second))
}

func object(name, value string) custom_metrics.MetricValue {
	return custom_metrics.MetricValue{
		DescribedObject: custom_metrics.ObjectReference{Kind: "Pod", Namespace: "shop", Name: name},
		Metric:          custom_metrics.MetricIdentifier{Name: "rps"},
		Timestamp:       at(0),
		Value:           resource.MustParse(value),
	}
}

func external(value string, labels map[string]string) external_metrics.ExternalMetricValue {
	return external_metrics.ExternalMetricValue{MetricName: "depth", MetricLabels: labels, Timestamp: at(0), Value: resource.MustParse(value)}
}

// with changes one item.
func with[T any](item T, change func(*T)) T {
	change(&item)
	return item
}

// text returns what goes over the wire.
func text(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// read returns what an autoscaler reads of a value that it is sent.
func read(t testing.TB, q resource.Quantity) *big.Int {
	t.Helper()
	var received resource.Quantity
	if err := json.Unmarshal([]byte(text(t, q)), &received); err != nil {
		t.Fatal(err)
	}
	if near, far := q.MilliValue(), received.MilliValue(); q.Sign() >= 0 && near != far {
		t.Fatalf("%v is %d milli here and %d where it is read", &q, near, far)
	}
	return big.NewInt(received.MilliValue())
}

// number is a quantity and, by another way, the number that it is.
type number struct {
	text string
	rat  *big.Rat
}

func (n number) quantity() resource.Quantity { return resource.MustParse(n.text) }

var binary = []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}

// numberOf is mantissa × 10^exponent, or mantissa × 1024^(1..6) for an exponent above 24.
func numberOf(mantissa int64, exponent int) number {
	rat := new(big.Rat).SetInt64(mantissa)
	if exponent > 24 {
		i := (exponent - 25) % len(binary)
		factor := new(big.Int).Lsh(big.NewInt(1), uint(10*(i+1)))
		n := number{fmt.Sprint(mantissa, binary[i]), rat.Mul(rat, new(big.Rat).SetInt(factor))}
		if highest := new(big.Rat).SetInt64(1<<63 - 1); n.rat.Cmp(highest) > 0 {
			n.rat = highest // the parser's own bound
		}
		return n
	}
	factor, _ := new(big.Rat).SetString(fmt.Sprintf("1e%d", exponent))
	return number{fmt.Sprintf("%de%d", mantissa, exponent), rat.Mul(rat, factor)}
}

func randomNumber(r *rand.Rand) number {
	mantissa := r.Int64() >> r.IntN(64)
	if r.IntN(3) == 0 {
		mantissa = -mantissa
	}
	return numberOf(mantissa, r.IntN(40)-9)
}

// The definition, with fractions: what is beyond the bounds is the bound.
var (
	highest = new(big.Rat).SetFrac(big.NewInt(most), big.NewInt(1000))
	lowest  = new(big.Rat).SetFrac(big.NewInt(-999_999_999_999_999_999), big.NewInt(1000))
)

func clamp(x *big.Rat) *big.Rat {
	switch {
	case x.Cmp(highest) > 0:
		return highest
	case x.Cmp(lowest) < 0:
		return lowest
	default:
		return x
	}
}

// milli rounds away from zero.
func milli(x *big.Rat) *big.Int {
	x = new(big.Rat).Mul(x, big.NewRat(1000, 1))
	n := new(big.Int).Quo(x.Num(), x.Denom())
	if !x.IsInt() {
		n.Add(n, big.NewInt(int64(x.Sign())))
	}
	return n
}

// byDefinition returns what a word makes of at least two numbers.
func byDefinition(word Word, numbers []number) *big.Int {
	sum, top, bottom := new(big.Rat), lowest, highest
	for _, n := range numbers {
		x := clamp(n.rat)
		sum.Add(sum, x)
		if x.Cmp(top) > 0 {
			top = x
		}
		if x.Cmp(bottom) < 0 {
			bottom = x
		}
	}
	switch word {
	case Sum:
		return milli(clamp(sum))
	case Avg:
		return milli(sum.Mul(sum, big.NewRat(1, int64(len(numbers)))))
	case Max:
		return milli(top)
	case Min:
		return milli(bottom)
	}
	panic(word)
}

var words = []Word{Sum, Avg, Max, Min}

func equal(t testing.TB, what string, want, got any) {
	t.Helper()
	fleettest.Same(t, what, text(t, want), text(t, got))
}

// marked returns what an item's metric selector says of its cluster.
func marked(item custom_metrics.MetricValue) string {
	return item.Metric.Selector.MatchLabels[fleet.ClusterLabel]
}

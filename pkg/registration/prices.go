// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Annotations of a registration, whatever its kind, that say what its cluster costs.
const (
	priceCPUAnnotation = "fleetscale.io/price-cpu-hour"
	priceGiBAnnotation = "fleetscale.io/price-gib-hour"
)

// reasonInvalidPrice: an annotation that says what the cluster costs holds no price. The registration is used without it.
const reasonInvalidPrice fleet.Reason = "InvalidPrice"

// Prices are what a cluster costs, in a currency that all registrations share. A price that is not said is nil; one that
// is 0 is known.
type Prices struct {
	// CPUHour is the price of one core for an hour.
	CPUHour *float64
	// GiBHour is the price of one GiB of memory for an hour.
	GiBHour *float64
}

const (
	mostPrice = 1_000_000
	// mostPriceLength is more digits than a price needs, and few enough to fit into a message.
	mostPriceLength = 32
)

// pricesOf reads the annotations of a registration. A warning is for one that holds no price; it counts as not said.
func pricesOf(object *metav1.ObjectMeta) (p Prices, warnings []Fault) {
	price := func(annotation string) *float64 {
		text := strings.TrimSpace(object.Annotations[annotation])
		if text == "" {
			return nil
		}
		value, ok := parsePrice(text)
		if !ok {
			warnings = append(warnings, faultf(reasonInvalidPrice,
				"annotation %s: %q is no price and is ignored; write a decimal number from 0 to %d, such as 0.025, in at most %d characters",
				annotation, shorten(text), mostPrice, mostPriceLength))
			return nil
		}
		return &value
	}
	p.CPUHour = price(priceCPUAnnotation)
	p.GiBHour = price(priceGiBAnnotation)
	return p, warnings
}

// parsePrice accepts digits and a decimal point only: no sign, exponent, NaN or other forms that strconv reads.
func parsePrice(text string) (price float64, ok bool) {
	if len(text) > mostPriceLength || strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	price, err := strconv.ParseFloat(text, 64)
	return price, err == nil && price <= mostPrice
}

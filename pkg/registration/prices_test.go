// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestRegistrationsSayWhatTheirClustersCost(t *testing.T) {
	ignored := func(annotation, quoted string) Fault {
		return Fault{"InvalidPrice", "annotation " + annotation + ": " + quoted +
			" is no price and is ignored; write a decimal number from 0 to 1000000, such as 0.025, in at most 32 characters"}
	}
	tests := map[string]struct {
		annotations map[string]string
		want        Prices
		warnings    []Fault
	}{
		"nothing": {},
		"both": {
			annotations: map[string]string{"fleetscale.io/price-cpu-hour": "0.0316", "fleetscale.io/price-gib-hour": " 0.004 "},
			want:        Prices{CPUHour: new(0.0316), GiBHour: new(0.004)},
		},
		"one": {
			annotations: map[string]string{"fleetscale.io/price-gib-hour": "0.004"},
			want:        Prices{GiBHour: new(0.004)},
		},
		"0, which is known": {
			annotations: map[string]string{"fleetscale.io/price-cpu-hour": "0"},
			want:        Prices{CPUHour: new(0.0)},
		},
		"no text, which is no price": {
			annotations: map[string]string{"fleetscale.io/price-cpu-hour": " ", "fleetscale.io/price-gib-hour": ""},
		},
		"one that is none beside one that is": {
			annotations: map[string]string{"fleetscale.io/price-cpu-hour": "0,03", "fleetscale.io/price-gib-hour": "0.004"},
			want:        Prices{GiBHour: new(0.004)},
			warnings:    []Fault{ignored("fleetscale.io/price-cpu-hour", `"0,03"`)},
		},
		"two that are none": {
			annotations: map[string]string{"fleetscale.io/price-cpu-hour": "3 ct", "fleetscale.io/price-gib-hour": "a\nlevel=error"},
			warnings: []Fault{
				ignored("fleetscale.io/price-cpu-hour", `"3 ct"`), ignored("fleetscale.io/price-gib-hour", `"a\nlevel=error"`),
			},
		},
		"a long text, of which the warning repeats the beginning": {
			annotations: map[string]string{"fleetscale.io/price-cpu-hour": strings.Repeat("9", 1000)},
			warnings:    []Fault{ignored("fleetscale.io/price-cpu-hour", `"`+strings.Repeat("9", 80)+`…"`)},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, r := range annotated(t, tc.annotations) {
				fleettest.Same(t, fmt.Sprintf("prices of %s", r), tc.want, r.Prices)
				fleettest.Same(t, fmt.Sprintf("warnings of %s", r), tc.warnings, r.Warnings)
			}
		})
	}
}

func TestPricesAreDecimalNumbers(t *testing.T) {
	tests := map[string]struct {
		text string
		want float64
		ok   bool
	}{
		"an integer":                        {"3", 3, true},
		"a fraction":                        {"0.5", 0.5, true},
		"without digits before the point":   {".5", 0.5, true},
		"without digits after the point":    {"2.", 2, true},
		"zeros":                             {"000.00", 0, true},
		"the highest":                       {"1000000", 1e6, true},
		"just above it":                     {"1000000.01", 0, false},
		"as long as allowed":                {"0.025" + strings.Repeat("0", 27), 0.025, true},
		"longer":                            {"0.025" + strings.Repeat("0", 28), 0, false},
		"the smallest that is not 0":        {"." + strings.Repeat("0", 30) + "1", 1e-31, true},
		"the largest of that length":        {strings.Repeat("9", 32), 0, false},
		"a point":                           {".", 0, false},
		"two points":                        {"1.2.3", 0, false},
		"a comma":                           {"0,5", 0, false},
		"separated thousands":               {"1_000", 0, false},
		"negative":                          {"-1", 0, false},
		"negative zero":                     {"-0", 0, false},
		"a sign":                            {"+1", 0, false},
		"an exponent":                       {"1e3", 0, false},
		"a large exponent":                  {"1e2147483648", 0, false},
		"a small exponent":                  {"1E-2147483648", 0, false},
		"hexadecimal":                       {"0x1p4", 0, false},
		"not a number":                      {"NaN", 0, false},
		"infinite":                          {"Inf", 0, false},
		"a currency":                        {"0.5EUR", 0, false},
		"a quantity":                        {"500m", 0, false},
		"a fraction of two":                 {"1/2", 0, false},
		"a space":                           {"1 0", 0, false},
		"digits of another script":          {"\u0661", 0, false},
		"bytes that are no text at all":     {"1\xff", 0, false},
		"a NUL":                             {"1\x00", 0, false},
		"nothing, which callers leave out":  {"", 0, false},
		"letters among digits, not at ends": {"1e0", 0, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, ok := parsePrice(tc.text); ok != tc.ok || ok && got != tc.want {
				t.Errorf("parsePrice(%q) = %g, %t, want %g, %t", tc.text, got, ok, tc.want, tc.ok)
			}
		})
	}
}

// FuzzPrices holds for any text: a price is one that can be calculated with, and what is none is told in one short line.
func FuzzPrices(f *testing.F) {
	for _, text := range []string{
		"", "0", "0.025", "1000000", "1000000.1", "1e6", "-1", "NaN", "Inf", ".", "0x1p4", "1_0", "0,5", "a\n\x00\xff",
		strings.Repeat("\x00", 99),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, warnings := pricesOf(&metav1.ObjectMeta{Annotations: map[string]string{priceCPUAnnotation: text}})
		switch {
		case p.CPUHour != nil:
			if price := *p.CPUHour; math.IsNaN(price) || math.Signbit(price) || price > 1e6 {
				t.Errorf("%q is taken for the price %g", text, price)
			}
			if len(warnings) > 0 {
				t.Errorf("%q is a price, with the warnings %v", text, warnings)
			}
		case strings.TrimSpace(text) != "" && len(warnings) != 1:
			t.Errorf("%q is no price, with the warnings %v", text, warnings)
		}
		for _, w := range warnings {
			if len(w.Message) > 1024 || strings.ContainsFunc(w.Message, func(r rune) bool { return !strconv.IsPrint(r) }) {
				t.Errorf("the warning is no line for people: %q", w.Message)
			}
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestRegistrationsSayWhatTheirClustersAdd(t *testing.T) {
	tests := map[string]struct {
		text   string
		want   int32
		quoted string // in the warning
	}{
		"nothing":          {text: ""},
		"blanks":           {text: "  "},
		"none":             {text: "0"},
		"some":             {text: " 20 ", want: 20},
		"the most":         {text: "1000000", want: 1_000_000},
		"more":             {text: "1000001", quoted: `"1000001"`},
		"more than counts": {text: "99999999999999999999", quoted: `"99999999999999999999"`},
		"less than none":   {text: "-1", quoted: `"-1"`},
		"signed":           {text: "+1", quoted: `"+1"`},
		"a fraction":       {text: "1.5", quoted: `"1.5"`},
		"a word":           {text: "many\nlevel=error", quoted: `"many\nlevel=error"`},
		"a long text":      {text: strings.Repeat("x", 1000), quoted: `"` + strings.Repeat("x", 80) + `…"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			annotations := map[string]string{"fleetscale.io/max-additional-replicas": tc.text}
			var warnings []Fault
			if tc.quoted != "" {
				warnings = []Fault{{"InvalidHeadroom", "annotation fleetscale.io/max-additional-replicas: " + tc.quoted +
					" is no number of replicas and is ignored; write a whole number from 0 to 1000000, such as 20"}}
			}
			for _, r := range annotated(t, annotations) {
				fleettest.Same(t, fmt.Sprintf("headroom of %s", r), tc.want, r.Headroom)
				fleettest.Same(t, fmt.Sprintf("warnings of %s", r), warnings, r.Warnings)
			}
		})
	}
}

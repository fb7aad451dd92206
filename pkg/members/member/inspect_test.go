// SPDX-License-Identifier: Apache-2.0

package member

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

// tells answers what a member is asked for its traits.
func tells(version, groups string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case versionPath:
			fmt.Fprint(w, version)
		case groupsPath:
			fmt.Fprint(w, groups)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}
}

func TestTraits(t *testing.T) {
	t.Parallel()
	const groups = `{"kind":"APIGroupList","groups":[{"name":"apps"},{"name":"external.metrics.k8s.io"},{"name":"metrics.k8s.io"}]}`
	tests := map[string]struct {
		version, groups string
		want            string
	}{
		"a cluster":              {`{"gitVersion":"v1.36.2+k3s1"}`, groups, "v1.36.2+k3s1 [metrics.k8s.io external.metrics.k8s.io]"},
		"no metrics APIs":        {`{"gitVersion":"v1.36.2"}`, `{"groups":[]}`, "v1.36.2 []"},
		"text of a terminal":     {`{"gitVersion":"\u001b[31mred"}`, groups, "\ufffd[31mred [metrics.k8s.io external.metrics.k8s.io]"},
		"a version without end":  {`{"gitVersion":"` + strings.Repeat("9", 1000) + `"}`, `{}`, strings.Repeat("9", 63) + "… []"},
		"a thousand times one":   {`{"gitVersion":"v1"}`, `{"groups":[` + strings.Repeat(`{"name":"metrics.k8s.io"},`, 1000) + `{}]}`, "v1 [metrics.k8s.io]"},
		"no version, but groups": {`[]`, groups, " [metrics.k8s.io external.metrics.k8s.io]"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
			east.handle = tells(tc.version, tc.groups)
			hub.Put(t, east.secret(t, "east"))
			r := start(t, hub, func(o *Options) { o.Inspect = true })
			r.becomes("east=Ready")
			memberstest.Eventually(t, tc.want, func() string {
				traits := r.member("east").Traits()
				return fmt.Sprint(traits.Version, " ", traits.MetricsAPIs)
			})
		})
	}
}

// Who does not want to know asks for nothing more than before.
func TestTraitsAreAskedForOnceOrNever(t *testing.T) {
	t.Parallel()
	for _, inspect := range []bool{false, true} {
		_, east, r := joined(t, func(o *Options) { o.Inspect = inspect })
		probes := east.probes.Load()
		memberstest.Eventually(t, "probed again", func() string {
			if east.probes.Load() > probes+3 {
				return "probed again"
			}
			return ""
		})
		others := east.requests.Load() - east.probes.Load()
		if traits := int64(map[bool]int{false: 0, true: 2}[inspect]); others < traits || others > traits+1 { // one finds out whether it is nested
			t.Errorf("with Inspect %v: %d requests beside the probes, want %d and one", inspect, others, traits)
		}
		source := r.member("east").Source()
		want := Source{Name: "secret", Object: "east", Ref: source.Ref, Address: strings.TrimPrefix(east.URL, "https://")}
		fleettest.Same(t, "source", want, source)
		if ref := source.Ref; ref.Kind != "Secret" || ref.Name != "east" {
			t.Errorf("registered by %+v", ref)
		}
	}
}

// A second registration of a cluster is no member, and is shown all the same.
func TestAllHasSpares(t *testing.T) {
	t.Parallel()
	hub, east, r := joined(t)
	hub.Put(t, east.secret(t, "spare"))
	memberstest.Eventually(t, "east Ready false, spare Duplicate true; members: 1", func() string {
		var all []string
		for _, m := range r.All() {
			s := m.State()
			all = append(all, fmt.Sprint(m.Name(), " ", s.Reason, " ", s.Spare()))
		}
		return fmt.Sprintf("%s; members: %d", strings.Join(all, ", "), len(r.Members()))
	})
}

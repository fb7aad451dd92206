// SPDX-License-Identifier: Apache-2.0

package goals

import (
	"math"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestShares(t *testing.T) {
	both, one := "constraints: {containerControlledResources: [cpu, memory]}",
		`constraints: {containerControlledResources: [cpu], container: [{name: log, mode: "Off"}]}`
	share := func(request, limit int64) Share {
		return Share{Request: Amounts{CPU: request}, Limit: Amounts{CPU: limit}}
	}
	tests := map[string]struct {
		spec   string
		floors []Floor
		want   []Share
	}{
		"none":                       {both, nil, []Share{{}, {}}},
		"a fifth more":               {both, []Floor{{"cpu", "", 300}}, []Share{share(300, 360), share(60, 0)}},
		"nothing is lost":            {both, []Floor{{"cpu", "", 301}}, []Share{share(302, 362), share(60, 0)}},
		"no more than the template":  {both, []Floor{{"cpu", "", 550}}, []Share{share(500, 660), share(100, 0)}},
		"the goal at least":          {both, []Floor{{"cpu", "", 900}}, []Share{share(750, 1000), share(150, 0)}},
		"of one container":           {both, []Floor{{"cpu", "app", 400}}, []Share{share(480, 480), {}}},
		"the higher one":             {both, []Floor{{"cpu", "", 300}, {"cpu", "app", 300}}, []Share{share(360, 360), share(60, 0)}},
		"less what is not sized":     {one, []Floor{{"cpu", "", 300}}, []Share{share(260, 360), {}}},
		"what is not sized is more":  {one, []Floor{{"cpu", "", 80}}, []Share{share(0, 96), {}}},
		"of what is not sized: none": {one, []Floor{{"cpu", "log", 80}}, []Share{{}, {}}},
		"bytes":                      {both, []Floor{{"memory", "app", 10}}, []Share{{Amounts{Memory: 12}, Amounts{Memory: 12}}, {}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "shares", tt.want, Shares(of(t, tt.spec), pair(), tt.floors))
		})
	}
	even := Shares(of(t, both), []Container{{Name: "a"}, {Name: "b"}, {Name: "c"}}, []Floor{{"cpu", "", 100}})
	fleettest.Same(t, "shares of containers that request nothing", []Share{share(34, 0), share(33, 0), share(33, 0)}, even)
}

// Whatever the template, the parts and what is not sized come to the floor, and to hardly more.
func TestSharesComeToTheFloor(t *testing.T) {
	r := random{rand.New(rand.NewPCG(11, 7))}
	for range 20000 {
		spec, template := r.spec(), r.template()
		r.sizing(spec)
		use := r.amount() + 1
		use = max(1, use) // it may have overflowed
		for _, name := range []corev1.ResourceName{"cpu", "memory"} {
			var sum int64
			sized := false
			for i, s := range Shares(spec, template, []Floor{{name, "", use}}) {
				part := s.Request.of(name)
				if part < 0 || s.Limit.of(name) < 0 {
					t.Fatalf("%+v of %+v: %+v", use, template, s)
				}
				if !spec.Sized(template[i].Name, name) {
					part = min(most, template[i].Requests.of(name))
				} else {
					sized = true
				}
				sum += min(part, math.MaxInt64-sum)
			}
			if sized && sum < min(most, use) {
				t.Fatalf("%d of %s is divided among %+v: they request %d", use, name, template, sum)
			}
		}
	}
}

func TestPressure(t *testing.T) {
	type sample struct{ used, requested, advised int64 }
	hot, warm, cool := sample{96, 100, 80}, sample{107, 500, 117}, sample{105, 500, 117}
	tests := map[string]struct {
		samples []sample
		want    bool
	}{
		"none":                       {nil, false},
		"too short":                  {[]sample{hot, hot, hot, hot}, false},
		"interrupted":                {[]sample{hot, hot, hot, cool, hot}, false},
		"a twentieth less":           {[]sample{{95, 100, 80}, {95, 100, 80}, {95, 100, 80}, {95, 100, 80}, {95, 100, 80}}, false},
		"lasting":                    {[]sample{hot, hot, hot, hot, hot}, true},
		"it would come back":         {[]sample{hot, hot, hot, hot, hot, warm, warm}, true},
		"it is over":                 {[]sample{hot, hot, hot, hot, hot, warm, cool}, false},
		"once over, it begins again": {[]sample{hot, hot, hot, hot, hot, cool, warm}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var p Pressure
			for _, s := range tt.samples {
				p = p.Next(s.used, s.requested, s.advised)
			}
			if got := Reserves(2, 2, p); got != tt.want {
				t.Errorf("reserves at the minimum: %t, want %t", got, tt.want)
			}
			if !Reserves(3, 2, p) {
				t.Error("reserves nothing above the minimum")
			}
		})
	}
}

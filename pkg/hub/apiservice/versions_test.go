// SPDX-License-Identifier: Apache-2.0

package apiservice

import (
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestGroupsAreNamedOnceAndInOrder(t *testing.T) {
	want := []string{"metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io"}
	fleettest.Same(t, "groups", want, Groups())
}

func TestVersionsOfGroups(t *testing.T) {
	tests := map[string]struct {
		groups []string
		want   []string
	}{
		"resource metrics": {[]string{"metrics.k8s.io"}, []string{"v1beta1.metrics.k8s.io", "v1.metrics.k8s.io"}},
		"custom metrics":   {[]string{"custom.metrics.k8s.io"}, []string{"v1beta2.custom.metrics.k8s.io", "v1beta1.custom.metrics.k8s.io"}},
		"external metrics": {[]string{"external.metrics.k8s.io"}, []string{"v1beta1.external.metrics.k8s.io"}},
		"in another order, and twice": {
			[]string{"external.metrics.k8s.io", "metrics.k8s.io", "external.metrics.k8s.io"},
			[]string{"v1beta1.metrics.k8s.io", "v1.metrics.k8s.io", "v1beta1.external.metrics.k8s.io"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			all, err := Versions(tc.groups)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range all {
				got = append(got, v.APIService())
			}
			fleettest.Same(t, "APIServices", tc.want, got)
		})
	}
}

func TestGroupsThatAreRefused(t *testing.T) {
	const choice = "name one or more of metrics.k8s.io, custom.metrics.k8s.io, external.metrics.k8s.io"
	tests := map[string]struct {
		groups []string
		want   string
	}{
		"none":           {nil, "no API group: " + choice},
		"an empty list":  {[]string{}, "no API group: " + choice},
		"an empty name":  {[]string{""}, `unknown API group "": ` + choice},
		"a version":      {[]string{"metrics.k8s.io", "v1beta1.metrics.k8s.io"}, `unknown API group "v1beta1.metrics.k8s.io": ` + choice},
		"all that is so": {[]string{"a", "b"}, `unknown API group "a": ` + choice + "\n" + `unknown API group "b": ` + choice},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := CheckGroups(tc.groups); err == nil || err.Error() != tc.want {
				t.Errorf("error = %v\nwant    %s", err, tc.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	want := []string{"v1beta1.metrics.k8s.io", "v1.metrics.k8s.io", "v1beta1.external.metrics.k8s.io", "v1alpha1.members.fleetscale.io",
		"v1alpha1.history.fleetscale.io"}
	fleettest.Same(t, "", want, Names([]string{"external.metrics.k8s.io", "metrics.k8s.io", "other"}))
}

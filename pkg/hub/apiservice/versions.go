// SPDX-License-Identifier: Apache-2.0

package apiservice

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	history "github.com/fleetscale/fleetscale/pkg/apis/history/v1alpha1"
	members "github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
)

// Version is a group version that we can answer for.
type Version struct {
	schema.GroupVersion
	// Priority orders the versions of a group: discovery names the highest first.
	Priority int32
}

// Known is what we can answer for in place of others. The priorities are those that
// metrics-server, prometheus-adapter and KEDA give the same versions, so that
// clients prefer the same ones before and after a takeover.
func Known() []Version {
	const metrics, custom, external = "metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io"
	return []Version{
		{schema.GroupVersion{Group: metrics, Version: "v1beta1"}, 100},
		{schema.GroupVersion{Group: metrics, Version: "v1"}, 100},
		{schema.GroupVersion{Group: custom, Version: "v1beta2"}, 200},
		{schema.GroupVersion{Group: custom, Version: "v1beta1"}, 100},
		{schema.GroupVersion{Group: external, Version: "v1beta1"}, 100},
	}
}

// Own are the versions that nobody else serves. Their APIServices come with deploy/base and go with it, so that they are never restored.
func Own() []Version {
	return []Version{{members.SchemeGroupVersion, 100}, {history.SchemeGroupVersion, 100}}
}

// Groups are the API groups of others that we can answer for, in the order in which they
// are acted on and told of.
func Groups() []string {
	var groups []string
	for _, v := range Known() {
		groups = append(groups, v.Group)
	}
	return slices.Compact(groups)
}

// CheckGroups refuses a list that is empty, or that names a group which is not
// one of [Groups]. Order and repetition do not matter.
func CheckGroups(groups []string) error {
	if len(groups) == 0 {
		return errors.New("no API group: " + choice())
	}
	var errs []error
	for _, group := range groups {
		if !slices.Contains(Groups(), group) {
			errs = append(errs, fmt.Errorf("unknown API group %q: %s", group, choice()))
		}
	}
	return errors.Join(errs...)
}

func choice() string {
	return "name one or more of " + strings.Join(Groups(), ", ")
}

// Versions returns those of the groups, in the order of [Groups].
func Versions(groups []string) ([]Version, error) {
	if err := CheckGroups(groups); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(Known(), func(v Version) bool { return !slices.Contains(groups, v.Group) }), nil
}

// Names are the APIServices of the groups, of which those that are not among
// [Groups] have none, and our own.
func Names(groups []string) []string {
	var names []string
	for _, v := range Known() {
		if slices.Contains(groups, v.Group) {
			names = append(names, v.APIService())
		}
	}
	for _, v := range Own() {
		names = append(names, v.APIService())
	}
	return names
}

// APIService is the name that the API prescribes for the APIService of v.
func (v Version) APIService() string { return v.Version + "." + v.Group }

// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/metrics/pkg/apis/metrics"

	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
)

// apis are the APIServices that matter, by name.
type apis map[string]*apiregistrationv1.APIService

func apiServices(v *verdict, p *Picture) {
	all, ok := known(v, p.APIServices)
	if !ok {
		return
	}
	found := apis{}
	for i := range all {
		found[all[i].Name] = &all[i]
	}
	ours := found.ours()
	for _, version := range slices.Concat(apiservice.Known(), apiservice.Own()) {
		if found.expects(version, ours, p.APIs) {
			found.judge(v, p, version, ours)
		}
	}
}

// ours is the Service of the adapter: that of deploy/, unless nothing leads there.
func (a apis) ours() types.NamespacedName {
	service := types.NamespacedName{Namespace: SystemNamespace, Name: adapter}
	for _, version := range slices.Concat(apiservice.Known(), apiservice.Own()) {
		if api := a[version.APIService()]; api != nil && apiservice.Target(api) == service {
			return service
		}
	}
	for _, version := range apiservice.Own() {
		if api := a[version.APIService()]; api != nil && api.Spec.Service != nil {
			return apiservice.Target(api)
		}
	}
	return service
}

// expects reports whether an API should lead to the adapter. Of those that may be left to others, cpu and memory always should, unless
// the person says otherwise; the rest where one of the group's versions does, or bears the mark of ours.
func (a apis) expects(v apiservice.Version, ours types.NamespacedName, said []string) bool {
	if slices.ContainsFunc(apiservice.Own(), func(own apiservice.Version) bool { return own.Group == v.Group }) {
		return true
	}
	if len(said) > 0 {
		return slices.Contains(said, v.Group)
	}
	return v.Group == metrics.GroupName || slices.ContainsFunc(apiservice.Known(), func(other apiservice.Version) bool {
		api := a[other.APIService()]
		return other.Group == v.Group && api != nil && (apiservice.Target(api) == ours || api.Labels["app.kubernetes.io/part-of"] == "fleetscale")
	})
}

func (a apis) judge(v *verdict, p *Picture, version apiservice.Version, ours types.NamespacedName) {
	api := a[version.APIService()]
	own, _, _ := strings.Cut(version.Group, ".")
	fix := p.kubectl("apply", "--server-side", "-f", "deploy/base/hub/"+own+".yaml")
	f := Finding{Error, "", "APIService " + version.APIService(), "", fix}
	if slices.Contains(apiservice.Groups(), version.Group) {
		f.Fix = p.plugin("takeover", "--apis="+version.Group)
	}
	switch {
	case api == nil:
		f.What = "it does not exist"
	case apiservice.Target(api) != ours:
		f.What = fmt.Sprintf("it leads to %s, and not to %s", apiservice.Describe(apiservice.Target(api)), apiservice.Describe(ours))
		if other := a.split(version, ours); other != "" {
			f.What += "; " + other + " does, so clients get different answers by the version that they ask for"
		}
	default:
		state := available(api)
		switch {
		case state == nil:
			f.What = "the hub has not tried it yet"
		case state.Status != apiregistrationv1.ConditionTrue:
			f.What = fmt.Sprintf("it is not available: %s: %s", state.Reason, state.Message)
			if !strings.Contains(state.Message, "x509") {
				f.Fix = p.pods(adapter)
			}
		case api.Spec.InsecureSkipTLSVerify:
			f.Severity, f.What = Warning, "the hub does not verify who answers (insecureSkipTLSVerify)"
		default:
			return
		}
	}
	v.add(f)
}

// split is another version of the group that leads to the adapter; empty: none does.
func (a apis) split(version apiservice.Version, ours types.NamespacedName) string {
	for _, other := range apiservice.Known() {
		if api := a[other.APIService()]; other.Group == version.Group && api != nil && apiservice.Target(api) == ours {
			return other.APIService()
		}
	}
	return ""
}

func available(api *apiregistrationv1.APIService) *apiregistrationv1.APIServiceCondition {
	for i := range api.Status.Conditions {
		if api.Status.Conditions[i].Type == apiregistrationv1.Available {
			return &api.Status.Conditions[i]
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/claims/index"
)

func targets(v *verdict, p *Picture) {
	var all []client.Object
	all = append(all, objects(v, p.Federated)...)
	all = append(all, objects(v, p.Cron)...)
	all = append(all, objects(v, p.Multidim)...)
	all = append(all, objects(v, p.Local)...)
	slices.SortStableFunc(all, func(a, b client.Object) int { // of two the later is in the way
		return cmp.Or(a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time), strings.Compare(a.GetName(), b.GetName()))
	})
	named := map[[2]string][]client.Object{}
	for _, object := range all {
		for _, name := range index.Names(object) {
			key := [2]string{object.GetNamespace(), name}
			named[key] = append(named[key], object)
		}
	}
	told := map[Finding]bool{}
	for _, key := range slices.SortedFunc(maps.Keys(named), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		for i, earlier := range named[key] {
			for _, later := range named[key][i+1:] {
				if f, found := clash(p, earlier, later); found && !told[f] {
					told[f] = true
					v.add(f)
				}
			}
		}
	}
}

func objects[T client.Object](v *verdict, r Read[[]T]) (all []client.Object) {
	list, _ := known(v, r)
	for _, object := range list {
		all = append(all, object)
	}
	return all
}

// clash is what is wrong with two autoscalers of one namespace, of which the one was there before the other.
func clash(p *Picture, earlier, later client.Object) (Finding, bool) {
	for _, pair := range [][2]client.Object{{earlier, later}, {later, earlier}} {
		asker, by := pair[0], pair[1]
		for _, claim := range claims.On(claims.Of(asker), by) {
			says := cmp.Or(claim.AtWork(), claim.WhenStored())
			if says == "" {
				continue
			}
			verb := "delete"
			if kindOf(asker) == v1alpha1.CronFederatedHPAKind || kindOf(by) == v1alpha1.CronFederatedHPAKind {
				verb = "edit" // its rules should set the bounds of the other
				if kindOf(asker) == v1alpha1.CronFederatedHPAKind {
					by = asker
				}
			}
			return Finding{Error, "", kindOf(asker) + " " + asker.GetNamespace() + "/" + asker.GetName(), says,
				p.kubectl("-n", by.GetNamespace(), verb, strings.ToLower(kindOf(by)), by.GetName())}, true
		}
	}
	return Finding{}, false
}

// kindOf is the kind of an autoscaler as it stands there, be it made by another.
func kindOf(object client.Object) string {
	switch object.(type) {
	case *v1alpha1.FederatedHPA:
		return v1alpha1.FederatedHPAKind
	case *v1alpha1.CronFederatedHPA:
		return v1alpha1.CronFederatedHPAKind
	case *v1alpha1.MultidimPodAutoscaler:
		return v1alpha1.MultidimPodAutoscalerKind
	}
	return "HorizontalPodAutoscaler"
}

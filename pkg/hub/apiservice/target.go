// SPDX-License-Identifier: Apache-2.0

package apiservice

import (
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Target returns where an APIService points. The zero value is the hub itself.
func Target(api *apiregistrationv1.APIService) types.NamespacedName {
	if api.Spec.Service == nil {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: api.Spec.Service.Namespace, Name: api.Spec.Service.Name}
}

// Describe returns the target for people.
func Describe(target types.NamespacedName) string {
	if target == (types.NamespacedName{}) {
		return "the hub itself"
	}
	return "Service " + target.String()
}

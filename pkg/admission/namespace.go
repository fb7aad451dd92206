// SPDX-License-Identifier: Apache-2.0

package admission

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// namespaceFaults refuses an object where the controllers do nothing.
func namespaceFaults(object metav1.Object) field.ErrorList {
	namespace := object.GetNamespace()
	return when(tenancy.Reserved(namespace),
		field.Forbidden(field.NewPath("metadata", "namespace"), tenancy.Refusal(namespace)).WithOrigin(ruleNamespace))
}

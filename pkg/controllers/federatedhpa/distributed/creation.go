// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

// uncreated is why the workload is not created in a cluster that lacks it, and what to set; empty: it may be. Both the program and the
// cluster's registration have to allow it, lest whoever may write a FederatedHPA runs Pods of their choice in any cluster.
func uncreated(template *unstructured.Unstructured, byProgram bool, byCluster registration.Creation) string {
	namespace := template.GetNamespace()
	missing := fmt.Sprintf("the cluster has no %s %q, and", template.GetKind(), template.GetName())
	annotate := fmt.Sprintf("annotate its registration with %s: %s", registration.CreateInAnnotation, namespace)
	switch {
	case !byProgram:
		return missing + " no workloads are created in clusters: create it there, or run the controller-manager with --create-workloads and " +
			annotate
	case !byCluster.In(namespace):
		return fmt.Sprintf("%s its registration does not allow workloads to be created in namespace %q: create it there, or %s", missing,
			namespace, annotate)
	}
	for _, account := range serviceAccounts(template.Object["spec"]) {
		if !byCluster.With(account) {
			return fmt.Sprintf("%s its registration does not allow workloads to be created that run as ServiceAccount %q: create it there, or "+
				"annotate its registration with %s: %s", missing, account, registration.CreateWithAnnotation, account)
		}
	}
	return ""
}

// serviceAccounts are those that a part of an object names, in order, wherever its kind has its Pods' template.
func serviceAccounts(part any) (names []string) {
	switch part := part.(type) {
	case map[string]any:
		for field, value := range part {
			name, isText := value.(string)
			if isText && (field == "serviceAccountName" || field == "serviceAccount") { // the latter is its former name, and counts still
				names = append(names, name)
				continue
			}
			names = append(names, serviceAccounts(value)...)
		}
	case []any:
		for _, item := range part {
			names = append(names, serviceAccounts(item)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

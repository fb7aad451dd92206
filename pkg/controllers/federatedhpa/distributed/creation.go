// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"

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
	return ""
}

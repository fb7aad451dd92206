// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Annotations of a registration, whatever its kind, that say which workloads may be created in its cluster.
const (
	// CreateInAnnotation names namespaces, or is [AllNamespaces].
	CreateInAnnotation = "fleetscale.io/create-workloads-in"
	// CreateWithAnnotation names the ServiceAccounts, beside default, that Pods of created workloads may run as.
	CreateWithAnnotation = "fleetscale.io/create-workloads-with"
	// AllNamespaces stands for every namespace that is not [tenancy.Reserved].
	AllNamespaces = "*"
)

// reasonInvalidCreation: an annotation that allows workloads to be created names what cannot be allowed. That part is ignored.
const reasonInvalidCreation fleet.Reason = "InvalidCreateWorkloads"

// mostNames bounds what each of the annotations names.
const mostNames = 1000

// Creation is which workloads may be created in a cluster. The zero value allows none.
type Creation struct {
	// Namespaces are in order, each once; [AllNamespaces] alone: all.
	Namespaces []string
	// ServiceAccounts are those that Pods may run as, in order, each once. Default is allowed without being named.
	ServiceAccounts []string
}

// In reports whether workloads may be created in the namespace.
func (c Creation) In(namespace string) bool {
	return !tenancy.Reserved(namespace) &&
		(slices.Contains(c.Namespaces, namespace) || slices.Equal(c.Namespaces, []string{AllNamespaces}))
}

// With reports whether Pods of a created workload may run as a ServiceAccount; empty is the default one.
func (c Creation) With(serviceAccount string) bool {
	return serviceAccount == "" || serviceAccount == "default" || slices.Contains(c.ServiceAccounts, serviceAccount)
}

// creationOf reads the annotations of a registration. A warning is for a name that allows nothing.
func creationOf(object *metav1.ObjectMeta) (c Creation, warnings []Fault) {
	namespaces, warned := namesIn(object, CreateInAnnotation, namespaceFault)
	if slices.Contains(namespaces, AllNamespaces) {
		namespaces = []string{AllNamespaces}
	}
	accounts, warnedToo := namesIn(object, CreateWithAnnotation, accountFault)
	return Creation{Namespaces: namespaces, ServiceAccounts: accounts}, append(warned, warnedToo...)
}

// namesIn returns the names of a list with commas between them, but for those with a fault.
func namesIn(object *metav1.ObjectMeta, annotation string, fault func(string) string) (names []string, warnings []Fault) {
	text := object.Annotations[annotation]
	if n := strings.Count(text, ",") + 1; n > mostNames {
		return nil, []Fault{faultf(reasonInvalidCreation, "annotation %s: it lists %d names and is ignored; list at most %d", annotation, n,
			mostNames)}
	}
	var wrong []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if why := fault(name); why != "" {
			wrong = append(wrong, fmt.Sprintf("%q %s", shorten(name), why))
			continue
		}
		names = append(names, name)
	}
	if len(wrong) > 0 {
		more := ""
		if rest := len(wrong) - mostNamed; rest > 0 {
			wrong, more = wrong[:mostNamed], fmt.Sprintf("; and %d more", rest)
		}
		warnings = []Fault{faultf(reasonInvalidCreation, "annotation %s: what cannot be allowed is ignored: %s%s", annotation,
			strings.Join(wrong, "; "), more)}
	}
	slices.Sort(names)
	return slices.Compact(names), warnings
}

// mostNamed is how many faults of an annotation a warning has.
const mostNamed = 3

func namespaceFault(name string) string {
	switch {
	case name == AllNamespaces:
		return ""
	case tenancy.Reserved(name):
		return "is a namespace of Kubernetes or fleetscale, where no workloads are created"
	case len(validation.IsDNS1123Label(name)) > 0:
		return "is not the name of a namespace; write names with commas between them, or only " + AllNamespaces
	}
	return ""
}

func accountFault(name string) string {
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return "is not the name of a ServiceAccount; write names with commas between them"
	}
	return ""
}

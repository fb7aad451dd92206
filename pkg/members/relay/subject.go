// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/metrics/pkg/apis/custom_metrics"
)

// A Subject is whose metric is asked for: an object of a namespace, an object
// of none, or a namespace itself. It holds one namespace at most, and a member
// is asked in that one: members are asked with an identity that may read all
// namespaces, so the client's right to this one is all that protects the others.
type Subject struct {
	// namespace is empty for an object of none.
	namespace string
	// resource as resource.group, and name; both empty for a namespace itself.
	resource, name string
}

// SubjectOf is the object of that name, or all of them for "*". Namespace is
// empty for what is in none, as a namespace itself. An error is the client's
// mistake, and says what to ask for instead.
func SubjectOf(namespace string, resource schema.GroupResource, name string) (Subject, error) {
	switch {
	case resource.Resource == "" || name == "":
		return Subject{}, fmt.Errorf("resource %q with name %q: request an object by both", resource.String(), name)
	case resource != schema.GroupResource{Resource: "namespaces"}:
		return Subject{namespace: namespace, resource: resource.String(), name: name}, nil
	case namespace == "":
		return Subject{namespace: name}, nil
	default:
		return Subject{}, fmt.Errorf("namespace %q is no object in namespace %q: request namespaces/%s/metrics/ and the metric's name",
			name, namespace, name)
	}
}

// Namespace is the one that is asked; empty for an object of none.
func (s Subject) Namespace() string { return s.namespace }

// path holds the segments after the API's version. A namespace's own metrics
// lie where those of objects in it have their resource.
func (s Subject) path(metric string) []string {
	switch {
	case s.resource == "":
		return []string{"namespaces", s.namespace, "metrics", metric}
	case s.namespace != "":
		return []string{"namespaces", s.namespace, s.resource, s.name, metric}
	default:
		return []string{s.resource, s.name, metric}
	}
}

// several is true where any number of values may come.
func (s Subject) several() bool {
	return s.name == allObjects || s.resource == "" && s.namespace == allObjects
}

// allObjects in place of a name asks for all that the selector matches.
const allObjects = "*"

// asked keeps what was asked for of the values of a member: those of the objects that the subject
// means, and where these are several, the first of each. An adapter may leave the namespace out.
func (s Subject) asked(values []custom_metrics.MetricValue) answered[custom_metrics.MetricValue] {
	type object struct{ kind, namespace, name string }
	seen := map[object]bool{}
	unasked := func(v custom_metrics.MetricValue) bool {
		o := v.DescribedObject
		if !s.means(o) {
			return true
		}
		of := object{o.Kind, o.Namespace, o.Name}
		repeated := s.several() && seen[of]
		seen[of] = true
		return repeated
	}
	kept := slices.DeleteFunc(values, unasked)
	return answered[custom_metrics.MetricValue]{values: kept, dropped: len(values) - len(kept)}
}

// means is true for an object that is asked for.
func (s Subject) means(o custom_metrics.ObjectReference) bool {
	name, namespace := s.name, s.namespace
	if s.resource == "" { // a namespace itself
		name, namespace = s.namespace, o.Name
	}
	return o.Name != "" && (name == allObjects || o.Name == name) && (o.Namespace == "" || o.Namespace == namespace)
}

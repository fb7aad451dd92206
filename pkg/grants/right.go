// SPDX-License-Identifier: Apache-2.0

package grants

import (
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// Right is one thing that an account should be allowed.
type Right struct {
	Verb, Group, Resource, Name string
	// Namespace is where; empty: everywhere.
	Namespace string
}

// String is as people write it: get secrets in fleetscale-clusters.
func (r Right) String() string {
	text := r.Verb + " " + r.Resource
	if r.Group != "" {
		text += "." + r.Group
	}
	if r.Name != "" {
		text += " " + r.Name
	}
	if r.Namespace != "" {
		text += " in " + r.Namespace
	}
	return text
}

// Attributes are how an API server is asked.
func (r Right) Attributes() *authorizationv1.ResourceAttributes {
	resource, sub, _ := strings.Cut(r.Resource, "/")
	return &authorizationv1.ResourceAttributes{
		Verb: r.Verb, Group: r.Group, Version: "*", Resource: resource, Subresource: sub, Name: r.Name, Namespace: r.Namespace,
	}
}

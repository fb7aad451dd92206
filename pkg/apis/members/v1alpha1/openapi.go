// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// The types are published under the API group, as those of Kubernetes are, and not under where they stand in this repository.
const model = "io.fleetscale.members.v1alpha1."

// OpenAPIModelName returns the name under which the type is published.
func (Member) OpenAPIModelName() string { return model + "Member" }

// OpenAPIModelName returns the name under which the type is published.
func (MemberList) OpenAPIModelName() string { return model + "MemberList" }

// OpenAPIModelName returns the name under which the type is published.
func (MemberStatus) OpenAPIModelName() string { return model + "MemberStatus" }

// OpenAPIModelName returns the name under which the type is published.
func (MemberSource) OpenAPIModelName() string { return model + "MemberSource" }

// OpenAPIModelName returns the name under which the type is published.
func (ControllerManagerView) OpenAPIModelName() string { return model + "ControllerManagerView" }

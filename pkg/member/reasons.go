// SPDX-License-Identifier: Apache-2.0

package member

import "github.com/fleetscale/fleetscale/pkg/fleet"

// The words for a member's state, beside those of package fleet that a failing
// probe brings. The same word stands in State, logs, Events and metrics.
const (
	// ReasonReady: the last probe succeeded.
	ReasonReady fleet.Reason = "Ready"
	// ReasonNotContacted: registered a moment ago; the first probe has not ended.
	ReasonNotContacted fleet.Reason = "NotContacted"

	// ReasonInvalidName: the registration's name cannot be a label value without dots.
	ReasonInvalidName fleet.Reason = "InvalidName"
	// ReasonInvalidKubeconfig: the Secret holds no usable kubeconfig.
	ReasonInvalidKubeconfig fleet.Reason = "InvalidKubeconfig"
	// ReasonInvalidCluster: the Karmada Cluster's spec names no usable address.
	ReasonInvalidCluster fleet.Reason = "InvalidCluster"
	// ReasonInvalidTopology: an annotation that says where the cluster runs is too long or not printable.
	ReasonInvalidTopology fleet.Reason = "InvalidTopology"
	// ReasonMissingCredentials: the Secret that the Karmada Cluster refers to is not there, not readable or not complete.
	ReasonMissingCredentials fleet.Reason = "MissingCredentials"
	// ReasonPullMode: a Karmada Cluster whose API server the hub cannot reach.
	ReasonPullMode fleet.Reason = "PullMode"

	// ReasonExecNotAllowed: the kubeconfig would run a command in our container.
	ReasonExecNotAllowed fleet.Reason = "ExecNotAllowed"
	// ReasonAuthProviderNotAllowed: the kubeconfig names an auth provider.
	ReasonAuthProviderNotAllowed fleet.Reason = "AuthProviderNotAllowed"
	// ReasonFileNotAllowed: the kubeconfig would read files of our container.
	ReasonFileNotAllowed fleet.Reason = "FileNotAllowed"
	// ReasonInsecureNotAllowed: the member's identity would not be verified.
	ReasonInsecureNotAllowed fleet.Reason = "InsecureNotAllowed"

	// ReasonDuplicate: another registration leads to the same cluster, and is used.
	ReasonDuplicate fleet.Reason = "Duplicate"
	// ReasonNameConflict: another registration holds the name for another cluster.
	ReasonNameConflict fleet.Reason = "NameConflict"
	// ReasonIdentityConflict: the member was another cluster before, and now tells the identity of one that is used already.
	ReasonIdentityConflict fleet.Reason = "IdentityConflict"
	// ReasonNestedHub: the member is itself served by fleetscale.
	ReasonNestedHub fleet.Reason = "NestedHub"
	// ReasonHubMetricsServerUnset: the hub is a member, and where its own metrics-server is was not said.
	ReasonHubMetricsServerUnset fleet.Reason = "HubMetricsServerUnset"
)

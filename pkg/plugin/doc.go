// SPDX-License-Identifier: Apache-2.0

// Package plugin is what all commands of kubectl-fleetscale have in common: the
// caller, whose kubeconfig and rights they use, and how they print. Each command
// has a package of its own below this one.
package plugin

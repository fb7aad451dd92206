// SPDX-License-Identifier: Apache-2.0

// Package apiservice knows the APIServices that lead the hub's metrics APIs to
// the metrics adapter: which there are, and where one points. The adapter watches
// them, and an administrator takes them over by kubectl-fleetscale.
package apiservice

// SPDX-License-Identifier: Apache-2.0

// Package assignment divides the replicas of a fleet, or the bounds of its autoscaler, among the clusters.
package assignment

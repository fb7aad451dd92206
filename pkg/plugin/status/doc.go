// SPDX-License-Identifier: Apache-2.0

// Package status shows the fleet: its members, as the metrics adapter has them, a line of sums, and how many autoscalers are in which
// state, of which those that are worst off are named.
package status

// SPDX-License-Identifier: Apache-2.0

// Package status shows the fleet: its members, as the metrics adapter has them, and a line of sums.
package status

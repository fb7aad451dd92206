// SPDX-License-Identifier: Apache-2.0

// Package membership tests what people type: on real control planes, with the programs as they are built, clusters join by
// `kubectl fleetscale join`, are seen by `kubectl top`, get new tokens, and leave.
package membership

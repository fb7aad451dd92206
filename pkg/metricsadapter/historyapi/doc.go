// SPDX-License-Identifier: Apache-2.0

// Package historyapi serves history.fleetscale.io: the record of decisions on one autoscaler, which it has the controller-manager asked
// for, for those who may read that autoscaler.
//
//	storage.go    the API group
//	decisions.go  federatedhpas/decisions, multidimpodautoscalers/decisions: may they? ask, and pass on
//	places.go     how many are asked for at one time
package historyapi

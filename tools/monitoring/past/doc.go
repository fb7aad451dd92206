// SPDX-License-Identifier: Apache-2.0

// Package past holds what `kubectl fleetscale record --from-prometheus` makes of a past to the decisions that were made: FederatedHPAs are
// decided by the controller itself, Prometheus' own scraper reads its metrics into Prometheus' own database, and the command asks
// Prometheus' own API. All of it runs in the time of a [testing/synctest] bubble.
//
//	world_test.go       clusters with a load, the controller that scales them, and what it truly decided
//	prometheus_test.go  Prometheus
//	past_test.go        what is made of its past
package past

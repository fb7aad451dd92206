// SPDX-License-Identifier: Apache-2.0

// Package cost_test counts what a thousand MultidimPodAutoscalers ask of a hub, and of members, while nothing happens.
//
// The hub is a real API server, with the kinds, rights and programs that deploy/ has: the metrics adapter, which it passes questions for
// metrics on to, and the controller-manager. Members are simulated (test/sim). The hub counts, by its audit log, and the members do.
package cost_test

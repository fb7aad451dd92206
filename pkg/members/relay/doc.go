// SPDX-License-Identifier: Apache-2.0

// Package relay puts questions to the members' own custom.metrics.k8s.io and
// external.metrics.k8s.io, once for all who ask.
//
// A question goes to each member as one request, however many ask it at that
// moment; what became of it, failures included, serves who asks the same within
// a few seconds. Requests outlive the client who caused them, since others wait
// for them too; they end with their deadline, or when the member leaves. So one
// member that hangs costs an answer its deadline, and nobody else anything.
//
//	Relay ─┬─ board: one of the two APIs, over all members
//	       │    └─ line, one per member: which version it serves, its catalogue, and
//	       │         └─ question: the attempt under way or just ended, and what was last seen
//	       └─ board: the other API
//
// What metrics there are is gathered in the background, and told from memory.
package relay

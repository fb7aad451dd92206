// SPDX-License-Identifier: Apache-2.0

// Package member holds the fleet: which clusters are registered, and whether each
// answers. What registers a cluster is said by package registration, and how it is
// asked by package connection. Callers see [Member] values only:
//
//	object of the hub ──► registration ── one goroutine each ──► connection + probes
//	(package watcher)     (or refused:                               │ uid of kube-system
//	                       the reason)                               ▼
//	                                           rule (pure): identities, duplicates, conflicts
//	                                                                 │
//	                                       Members() ◄───────────────┘ ──► OnChange
//
// What callers may hold on to:
//
//   - A registered cluster that cannot be asked is listed all the same, not
//     ready and with its reason: it is silent, never forgotten. The one
//     exception is a second registration of a cluster that is listed already.
//     The registration that was Ready under a uid first keeps the uid and its
//     name, whatever another one says.
//   - One *Member is one cluster under one name. Credentials, address, labels
//     and readiness change behind the pointer; when the name comes to mean
//     another cluster there is another pointer, and what was known of the
//     former one must not be used for it.
//   - Nothing here waits for a member while it holds a lock, and every request
//     to a member is bounded as package connection says.
//
// A member becomes not ready, in short: at once when it refuses us, is not
// whom we expect, or has misbehaved so often that it is quarantined; when it did
// not answer a probe for a whole deadline; or when two probes in a row found no
// connection or an overloaded server. A request of a caller that succeeded
// meanwhile outweighs the last two. It becomes ready at the first probe that
// succeeds, of which there is none while it is quarantined.
package member

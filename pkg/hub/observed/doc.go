// SPDX-License-Identifier: Apache-2.0

// Package observed is the hub for a program that only observes (--observe): controllers work on it as on any other hub, and nothing of
// what they do reaches it.
//
//	the hub's objects ──► shown as in spec.mode Observe, ──► controllers ──► statuses, kept in memory ──┐
//	                      with the status that is kept         │                                         │
//	                      ▲                                     └──► anything else: refused               │
//	                      └───────────────────────────────────────────────────────────────────────────────┘
//	                                                                        └──► served to people (serve.go)
//
// The status that an object has on the hub, which may be of another controller, is where its own begins. Nothing is kept of an object
// that is gone, or over a restart.
package observed

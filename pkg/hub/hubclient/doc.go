// SPDX-License-Identifier: Apache-2.0

// Package hubclient has the clients by which controllers write to the hub: one that does not read back the statuses that it writes
// (NewClient), and one for a program that only observes.
//
// With --observe, controllers work on an Observed hub as on any other, and nothing of what they do reaches it.
//
//	the hub's objects ──► shown as in spec.mode Observe, ──► controllers ──► statuses, kept in memory ──┐
//	                      with the status that is kept         │                                         │
//	                      ▲                                     └──► anything else: refused               │
//	                      └───────────────────────────────────────────────────────────────────────────────┘
//	                                                                        └──► served to people (serve.go)
//
// The status that an object has on the hub, which may be of another controller, is where its own begins. Nothing is kept of an object
// that is gone, or over a restart.
package hubclient

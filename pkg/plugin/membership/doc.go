// SPDX-License-Identifier: Apache-2.0

// Package membership has clusters join a fleet, leave it, and get new tokens: the commands join, leave and rotate.
//
//	member    the identities of deploy/member*, by server-side apply; tokens of them, by TokenRequest
//	hub       the Secrets that register it: the credential that reads, and the one that writes, apart
//	hub says  whether its programs reach the member, which is when it has joined
//
// What is applied, and what is refused, is decided by pure functions (decide.go, address.go, manifests.go, targets.go) of what
// was seen of both before. Nothing is written where one of them refuses.
//
// Whatever is cut off can be run again: identities are applied, not created; the two Secrets are written one right after the
// other, also if the person stops waiting; a credential is tried before it takes the place of another.
package membership

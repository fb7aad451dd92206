// SPDX-License-Identifier: Apache-2.0

// Package ratelimit bounds the requests that are sent to one member, and shares them.
//
//	Class    what a request is for: each class has a part that no other can use up      class.go, tokens.go
//	Limiter  who waits, for how long, and who is next: within a class the namespaces
//	         take turns, so that a tenant who asks much waits for itself               limiter.go, queue.go
package ratelimit

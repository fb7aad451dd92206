// SPDX-License-Identifier: Apache-2.0

// Package usage knows the cpu and memory of the fleet's pods and nodes.
//
// Questions are answered from memory. A namespace that somebody asks for is
// asked of every member once per period, just after the member has measured
// (see beat.go), until nobody has asked for it for a while; so a member gets
// one request per namespace and period however many clients there are, and an
// answer never waits for a member. Where many namespaces are hot, one request for
// all pods takes the place of theirs (see together.go); and where many come that are new to us, as after a start, one such list answers
// those that come later in the period (see latest.go). Only two kinds of question read through:
//
//   - the first for a namespace, which waits for every member, up to its deadline
//   - one for all namespaces, which is asked once for all who wait for it, and not kept; where [Options].Scope names namespaces,
//     it is for these, one by one
//
// A member that fails at the first is asked again within seconds (see retry.go),
// for until then no answer is whole.
//
// What is in memory is served while its age, counted on our own clock from
// when it was asked for, is within a bound. Past it the member is silent.
//
//	Store ──── hot: which questions are asked again each period
//	  │
//	  └─ scraper, one per member: its beat, and a target per hot question
//	        └─ target: the last Batch, when it was asked for, what became of the last attempt
package usage

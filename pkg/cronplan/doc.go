// SPDX-License-Identifier: Apache-2.0

// Package cronplan decides what a CronFederatedHPA does at a moment: which
// runs are due, what they set together, what became of each, and when to decide
// again. It is pure: the controller reads the object and its target, and writes
// what is decided.
//
//	the object and its rules, the target, the time
//	       │
//	     resume  each rule's history, up to the rule as it is now   history.go, rule.go
//	     due     the latest run of each rule that has come          decide.go
//	     do      all of them together make one write                settle.go, values.go
//	     hold    or they are kept, and after a while given up       trouble.go
//	             as where the hub was told, and no cluster follows  followers.go
//	       │
//	what to set, the status, what is new in it, when to wake        status.go
//
// and, for people, what comes next: coming.go.
//
// Nothing is kept between two decisions but the status, and since when runs have
// been delayed. What is handed to [Decide] is not changed.
package cronplan

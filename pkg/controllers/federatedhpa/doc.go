// SPDX-License-Identifier: Apache-2.0

// Package federatedhpa is the controller of FederatedHPAs. It reconciles one object after another, once per sync period and
// whenever its spec changes, each in one mode at a time, also while it changes from one to the other:
//
//	central      the controller scales the workload itself, on the hub or in each member
//	distributed  the members' own HorizontalPodAutoscalers do, within bounds that it splits among them
//
// The modes do not know each other. Both see the fleet by package sight, report by package record, and are three steps:
//
//	gather  what is known of the workload in each cluster: I/O, and no choice
//	decide  a plan: a pure function, of the packages replicas and assignment
//	apply   the plan, and what came of it
//
// What a reconcile must know of former ones is in one memory per object (package perobject); what of it must outlive the
// program is in the status.
//
// An object that may be something else than its owner wrote, or older than the last write of it, is not reconciled (staleness.go).
package federatedhpa

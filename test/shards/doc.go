// SPDX-License-Identifier: Apache-2.0

// Package shards has three replicas of the built controller-manager divide autoscalers by --shards, on a real hub and a real member, while
// they are killed, stopped for longer than their Leases, cut off from the hub, and ended. Then the audit logs of both API servers say who
// wrote what while who held which shard: each object had one writer at a time, each decision was made once, and each cron rule ran once.
//
// Each life of a replica has an address of its own, by which the logs tell it from others: it sends all it sends through a way of its own.
//
// And up to eight replicas divide as many objects as one had before, and what a decision costs is counted.
//
// Leases are as long as by default, so this is in the long form only: make test-full PARTS=shards. What judges the logs has a test that is
// in all forms.
package shards

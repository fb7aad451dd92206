// SPDX-License-Identifier: Apache-2.0

// Package sharding has controllers reconcile the objects of some shards only: those that the replica holds (pkg/hub/shardlease). A shard
// that begins is to its objects as a new leader is: all of them are queued, each is first reconciled as the hub itself knows it, and
// nothing else is remembered of them. One that ends is let complete what is in progress, and then its objects are forgotten.
//
// With shards or without, the workers of a controller are shared among namespaces.
package sharding

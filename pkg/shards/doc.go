// SPDX-License-Identifier: Apache-2.0

// Package shards divides objects over the replicas of a program. An object belongs to a shard by its name, for good, so nobody has to
// agree on it. Which replica should hold which shard is a function of who is alive and who holds what: replicas that see the same decide
// the same, and those that do not are kept apart by the shards' Leases, on which alone safety rests.
package shards

import (
	"crypto/sha256"
	"encoding/binary"
)

// Of returns the shard of an object, of so many. Objects of all kinds that have one name are in one shard.
func Of(namespace, name string, shards int) int {
	sum := sha256.Sum256([]byte(namespace + "/" + name)) // no name has a slash
	return int(binary.BigEndian.Uint64(sum[:]) % uint64(shards))
}

// SPDX-License-Identifier: Apache-2.0

package shardlease

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/uuid"
)

// Who holds a Lease says in how many shards it divides the objects, so that a Lease tells it as soon as it is taken: not so of those
// without shards, of releases before them too.
var (
	identities  = regexp.MustCompile(`-of-([0-9]+)$`)
	shardLeases = regexp.MustCompile(`-shard-([0-9]+)-of-([0-9]+)\.`)
)

// Identity is a new one of a replica. With one shard it does not divide the objects.
func Identity(shards int) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("choosing an identity: %w", err)
	}
	identity := fmt.Sprintf("%s_%s", host, uuid.NewUUID())
	if shards > 1 {
		identity += fmt.Sprintf("-of-%d", shards)
	}
	return identity, nil
}

// divides returns in how many shards a replica divides the objects; 0: it does not.
func divides(identity string) int {
	if found := identities.FindStringSubmatch(identity); found != nil {
		return number(found[1])
	}
	return 0
}

// shardLease is the name of a shard's Lease.
func (o *Options) shardLease(shard int) string {
	return fmt.Sprintf("%s-shard-%d-of-%d.%s", o.Name, shard, o.Shards, o.Domain)
}

// replicaLease is the name of a replica's own Lease.
func (o *Options) replicaLease() string {
	unique := o.ID[strings.LastIndexByte(o.ID, '_')+1:] // a host's name need not be one of an object
	return fmt.Sprintf("%s-replica-%s.%s", o.Name, unique, o.Domain)
}

// shardOf tells of which shard a Lease is, and of how many; of 0: of none.
func shardOf(lease string) (shard, of int) {
	if found := shardLeases.FindStringSubmatch(lease); found != nil {
		return number(found[1]), number(found[2])
	}
	return 0, 0
}

// number is of digits; too many of them are no number of ours.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}

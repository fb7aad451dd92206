// SPDX-License-Identifier: Apache-2.0

package shards

// View is what a replica sees of the Leases.
type View struct {
	Me string
	// Alive are the replicas that divide the objects into as many shards.
	Alive []string
	// Holders are of each shard; "" is nobody.
	Holders []string
	// Others is what is seen of replicas that divide the objects in another way, or not at all. Two divisions must never be in force at once.
	Others Others
}

// Others is how far replicas with another division have come.
type Others int

const (
	// OthersRest: the leader is one of those with our division, and no shard of another is held.
	OthersRest Others = iota
	// OthersWork: some may still work, or may come to lead.
	OthersWork
	// OthersLead: the leader is one of them.
	OthersLead
)

// Decide returns which shards this replica should hold, or try for; and whether it may begin to work on those that it holds.
func Decide(v View) (hold []bool, begin bool) {
	hold = make([]bool, len(v.Holders))
	if v.Others == OthersLead {
		return hold, false
	}
	for shard, should := range Divide(v.Holders, v.Alive) {
		hold[shard] = should == v.Me && (v.Others == OthersRest || v.Holders[shard] == v.Me)
	}
	return hold, v.Others == OthersRest
}

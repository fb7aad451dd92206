// SPDX-License-Identifier: Apache-2.0

package sizes

// Room is what bounds sizes besides the containers: the rules of their namespace in a cluster, and the nodes there. What does
// not bound is None.
type Room struct {
	// Container and Pod are LimitRanges of these types, each with what all of the type say together.
	Container, Pod LimitRange
	// Quota is the part of one Pod in what quotas leave: what they allow, less what others use, divided by the replicas
	// that are wanted. So a Pod that grows does not keep the next one from being made.
	Quota Resources
	// Node is what is allocatable on the largest node, and Headroom how many percent of that are left to others.
	Node     Amounts
	Headroom int64
	// Accepted is what Pods on such nodes request at most, if they refused more in place (see [Past.Accepted]).
	Accepted Amounts
}

// LimitRange bounds requests and limits.
type LimitRange struct {
	Min, Max Amounts
	// MaxRatio is the largest proportion of a limit to its request, in thousandths.
	MaxRatio Amounts
}

// Unlimited is room without bounds.
func Unlimited() Room {
	free := LimitRange{none(), none(), none()}
	return Room{Container: free, Pod: free, Quota: Resources{none(), none()}, Node: none(), Accepted: none()}
}

// node is what all containers of a Pod may request together, so that a node can run it.
func (room *Room) node(r Resource) int64 {
	if room.Node[r] < 0 {
		return room.Accepted[r]
	}
	return bound{amount: room.Accepted[r]}.apply(mulDiv(room.Node[r], max(0, 100-room.Headroom), 100))
}

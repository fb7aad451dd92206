// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"fmt"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
)

const (
	// overEncoder is what an answer may cost, of what its encoding alone costs.
	overEncoder = 1.5
	// overFewMembers is what an answer from many members may cost, of one from few.
	overFewMembers = 1.1
)

// reaches are of what one client is answered without compression.
func (l *lister) reaches() []report.Reach {
	var costs, members []report.Reach
	few, many := l.Members[0], l.Members[len(l.Members)-1]
	for _, pods := range l.Pods {
		for _, format := range formats {
			list := fmt.Sprintf("%d Pods in %s", pods, format.name)
			costs = append(costs, because(atMost("CPU for "+list+", of the encoder's", overEncoder, "", l.overEncoder(few, pods, format.name)),
				l.beforeThePods(few, pods, format.name)))
			members = append(members, because(atMost(fmt.Sprintf("CPU for %s from %d members, of that from %d", list, many, few), overFewMembers, "",
				l.overEncoder(many, pods, format.name).Over(l.overEncoder(few, pods, format.name))), l.eachMember(few, many, pods, format.name)))
		}
	}
	return append(costs, members...)
}

// overEncoder is of the same round, so it can be compared with that of other rounds.
func (l *lister) overEncoder(members, pods int, format string) measure.Samples {
	return l.single(ours, members, pods, format).cpu.Over(l.single(encoderAlone, members, pods, format).cpu)
}

// eachMember returns what grows with the members.
func (l *lister) eachMember(few, many, pods int, format string) string {
	more := l.single(ours, many, pods, format).cpu.Median() - l.single(ours, few, pods, format).cpu.Median()
	return fmt.Sprintf("each member more costs %s µs of an answer: it is looked up, named in the coverage, and its Pods, which lie apart "+
		"in memory, are merged into the order of all",
		measure.Short(1000*more/float64(many-few)))
}

// beforeThePods returns how much of the cost is not for the list.
func (l *lister) beforeThePods(members, pods int, format string) string {
	list, without := l.single(ours, members, pods, format), l.single(noList, members, pods, format)
	return fmt.Sprintf("an answer without a list costs %s ms of it; what is left is %s of the encoder's",
		without.cpu, list.cpu.Less(without.cpu).Over(l.single(encoderAlone, members, pods, format).cpu))
}

// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"strings"
)

const (
	// CoverageHeader carries a [Coverage] to machines; see [Coverage.Header].
	CoverageHeader = "Fleetscale-Coverage"
	// HubHeader is borne by every answer that fleetscale serves. A member whose
	// answers bear it is itself a hub, and must not be merged again.
	HubHeader = "Fleetscale-Hub"
	// PartialHeader with the value [PartialAllow] on a request lets the answer be
	// served although a member is silent that it needs to be right. It is how
	// our controllers ask; other servers of the same APIs ignore it.
	PartialHeader = "Fleetscale-Partial"
	// PartialAllow is the value of [PartialHeader].
	PartialAllow = "allow"
	// WarningAgent is the agent of the HTTP warning that tells people of a partial answer.
	WarningAgent = "fleetscale/partial"
	// ClusterLabel is the label that names an item's cluster, and the selector
	// key by which clients choose clusters.
	ClusterLabel = "fleetscale.io/cluster"
)

// Coverage says which members an answer holds and which it lacks. All lists
// are in name order.
type Coverage struct {
	Answered []string
	// Absent are those of Answered which do not serve the API or know the metric.
	Absent []string
	Silent []SilentMember
	// Covered are those of Silent whose part is known from others all the same.
	Covered []string
	// Drained are those that did not answer, and that nobody waits for, as their registrations drain them.
	Drained []string
}

// SilentMember is an asked member whose part is missing.
type SilentMember struct {
	Cluster string
	Silence
}

// NobodyAnswered is true when members were asked and all of them are silent.
func (c Coverage) NobodyAnswered() bool {
	return len(c.Answered) == 0 && len(c.Silent)+len(c.Drained) > 0
}

// A warning is cut by API servers beyond 256 characters when there are many,
// so a few names with their reasons, and a count of the rest.
const (
	namesInWarning  = 3
	detailInWarning = 60
)

// Warning is one line for people on what the answer lacks; empty when it lacks nothing.
func (c Coverage) Warning() string {
	var parts []string
	if len(c.Silent) > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s did not answer: %s",
			len(c.Silent), Counted(len(c.Silent)+len(c.Answered), "cluster"), c.silentNames()))
	}
	if len(c.Drained) > 0 {
		parts = append(parts, fmt.Sprintf("drained, and did not answer: %s", fewOf(c.Drained)))
	}
	if len(c.Covered) > 0 {
		parts = append(parts, fmt.Sprintf("known from the others: all of %s", fewOf(c.Covered)))
	}
	if len(c.Absent) > 0 {
		parts = append(parts, fmt.Sprintf("not served by: %s", fewOf(c.Absent)))
	}
	return strings.Join(parts, "; ")
}

func (c Coverage) silentNames() string {
	names := make([]string, 0, len(c.Silent))
	for _, s := range c.Silent {
		silence := Silence{Reason: s.Reason, Detail: shorten(s.Detail, detailInWarning)}
		names = append(names, fmt.Sprintf("%s (%s)", s.Cluster, silence.Error()))
	}
	return fewOf(names)
}

// fewOf joins as many names as a warning has room for.
func fewOf(names []string) string {
	if len(names) <= namesInWarning {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:namesInWarning], ", "), len(names)-namesInWarning)
}

func shorten(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}

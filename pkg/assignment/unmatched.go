// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

const (
	// mostUnmatched are so many entries that are named; the others are counted.
	mostUnmatched = 8
	// longestSelector is how much of a selector is shown, in bytes.
	longestSelector = 512
)

// Unmatched says, for people, which entries of a clusterAutoscalingPreference select none of the clusters; empty if each
// selects one. Where there is no cluster at all, nothing is said of entries, nor of one that [Preferences] cannot read.
func Unmatched(entries []v1alpha1.TargetClusterAutoscalingPreference, clusters []ClusterFacts) string {
	if len(clusters) == 0 {
		return ""
	}
	var named []string
	n := 0
	for i := range entries {
		s, err := read(entries[i].TargetCluster)
		if err != nil || slices.ContainsFunc(clusters, s.matches) {
			continue
		}
		if n++; n <= mostUnmatched {
			named = append(named, fmt.Sprintf("clusterAutoscalingPreference[%d] %s", i, written(entries[i].TargetCluster)))
		}
	}
	switch {
	case n == 0:
		return ""
	case n > mostUnmatched:
		named = append(named, fmt.Sprintf("and %d more", n-mostUnmatched))
	}
	return fmt.Sprintf("of the %d clusters that the FederatedHPA selects, none is selected by %s: compare that with the names, labels "+
		"and annotations (fleetscale.io/provider, region, zones) of their registrations", len(clusters), strings.Join(named, ", "))
}

// written is a selector as a person may have written it, if it is not too long.
func written(affinity *v1alpha1.ClusterAffinity) string {
	text, err := json.Marshal(affinity)
	if err != nil {
		return "" // not of these types
	}
	if len(text) <= longestSelector {
		return string(text)
	}
	return strings.ToValidUTF8(string(text[:longestSelector]), "") + "…"
}

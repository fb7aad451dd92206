// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// anyGrace stands for how long others wait for a silent cluster: whether they still do is told.
const anyGrace = time.Hour

// AgainSplit splits the bounds again, as an edit of the spec has them split, among the clusters of the explanation as they are; before
// is the spec that it was made by. The error says what the explanation does not tell; caveats say what is only assumed.
func AgainSplit(object *v1alpha1.FederatedHPA, before *v1alpha1.FederatedHPASpec) (*v1alpha1.DecisionExplanation, []string, error) {
	if err := splittable(object, before); err != nil {
		return nil, nil, err
	}
	e := object.Status.Explanation
	selected := make([]Selected, len(e.Split.Clusters))
	for i := range e.Split.Clusters {
		c := &e.Split.Clusters[i]
		selected[i] = Selected{Name: c.Name, Entries: c.Entries, More: len(c.Entries) >= MostEntries}
	}
	preferences, entries, err := PreferencesAgain(selected, object.Spec.FederatedHPAAssignment, before.FederatedHPAAssignment)
	if err != nil {
		return nil, nil, err
	}
	s := edited(object)
	var caveats []string
	why := map[string]string{}
	for i := range e.Split.Clusters {
		c := &e.Split.Clusters[i]
		site := siteOf(c, s.Now)
		preference, preferred := preferences[c.Name]
		site.Preference, why[c.Name] = preference, c.Why
		leaves := c.Part == PartLeaving
		switch {
		case preferred && leaves && c.Why == reasonNotPreferred:
			return nil, nil, fmt.Errorf("cluster %s would take part then: what it runs and can host is not known", c.Name)
		case !preferred && !leaves:
			site.Presence, why[c.Name] = assignment.Leaving, reasonNotPreferred
		}
		if caveat := assumed(c, assignment.Policy(e.Split.Policy), s.Policy); caveat != "" {
			caveats = append(caveats, caveat)
		}
		s.Sites = append(s.Sites, site)
	}
	again := OfSplit(&Split{
		Snapshot: s, Step: assignment.Next(s), Current: e.CurrentReplicas, Desired: e.DesiredReplicas,
		Why: func(cluster string) string { return why[cluster] }, Entries: func(cluster string) []int32 { return entries[cluster] },
	})
	return again, caveats, nil
}

// splittable returns what keeps the bounds from being split again: the explanation does not tell of all clusters, or the edit is of
// fields whose effect it does not tell.
func splittable(object *v1alpha1.FederatedHPA, before *v1alpha1.FederatedHPASpec) error {
	e := object.Status.Explanation
	switch {
	case e == nil || e.Split == nil:
		return errors.New("status.explanation says nothing of bounds: the controller writes it with its next decision in distributed mode")
	case e.Split.Others != nil:
		return fmt.Errorf("%d clusters take part, and the explanation names %d of them: how bounds would be split among more is not known",
			len(e.Split.Clusters)+int(e.Split.Others.Clusters), len(e.Split.Clusters))
	case object.Spec.FederatedHPAAssignment == nil:
		return errors.New("spec.federatedHPAAssignment: what central mode would decide is not known")
	}
	return SplitBySame(&object.Spec, before)
}

// SplitBySame returns why it is not known how bounds would be split by another spec: they differ in more than in how bounds are split.
func SplitBySame(now, before *v1alpha1.FederatedHPASpec) error {
	if field := differing(unsplit(now), unsplit(before)); field != "" {
		return fmt.Errorf("spec.%s: how bounds would be split by another one is not known; minReplicas, maxReplicas, scalingToZero "+
			"and federatedHPAAssignment can be changed", field)
	}
	return nil
}

// edited is what the edited object says of the next decision; it has no clusters yet.
func edited(object *v1alpha1.FederatedHPA) assignment.Snapshot {
	s := assignment.Snapshot{UID: string(object.UID), Grace: anyGrace, Changed: true, Now: object.Status.Explanation.Time.Time}
	s.Follow(&object.Spec, assignment.Usual{})
	if object.Status.Assignment != nil {
		s.Memory = *object.Status.Assignment
	}
	return s
}

// assumed is what the explanation does not tell of a cluster, and is taken to be so; empty: nothing.
func assumed(c *v1alpha1.ClusterSplit, before, now assignment.Policy) string {
	switch {
	case c.Part == "" && c.Hosts == nil && now.ByCapacity() && !before.ByCapacity():
		return fmt.Sprintf("what cluster %s can host is not known, and is taken to be what it runs", c.Name)
	case c.Part == PartRefusing:
		return fmt.Sprintf("cluster %s refuses what is written to it, and is taken to go on so", c.Name)
	default:
		return ""
	}
}

// reasonNotPreferred is why a cluster takes no part that no preference selects.
const reasonNotPreferred = "NotPreferred"

// unsplit is the spec without the fields by which bounds are split.
func unsplit(spec *v1alpha1.FederatedHPASpec) *v1alpha1.FederatedHPASpec {
	bare := *spec
	bare.MinReplicas, bare.MaxReplicas, bare.ScalingToZero, bare.FederatedHPAAssignment = nil, 0, nil, nil
	return &bare
}

// siteOf is a cluster as it is after the decision.
func siteOf(c *v1alpha1.ClusterSplit, now time.Time) assignment.Site {
	s := assignment.Site{
		Name: c.Name, Min: c.Min, Max: c.Max, Stands: c.Max, Current: c.Runs, Ready: c.Ready, Unschedulable: c.Waiting, Balks: c.Balks,
		State: v1alpha1.ClusterActive, Since: now,
	}
	switch c.Part {
	case PartSilent:
		s.Presence, s.State = assignment.Silent, v1alpha1.ClusterUnreachable
		if !c.Keeps {
			s.Since = now.Add(-anyGrace)
		}
	case PartRefusing:
		s.Presence = assignment.Refusing
	case PartLeaving:
		s.Presence, s.State = assignment.Leaving, v1alpha1.ClusterExcluded
	}
	for _, standing := range []taints.Standing{taints.Cordoned, taints.Drained} {
		if c.Standing == standing.String() {
			s.Standing = standing
		}
	}
	if c.Hosts != nil {
		s.Additional = new(max(0, *c.Hosts-max(0, c.Runs-c.Waiting)))
	}
	if s.Max == 0 && c.Part == "" {
		s.State = v1alpha1.ClusterExcluded
	}
	return s
}

// Selected is a cluster, and which entries of the preferences select it. More: there may be others.
type Selected struct {
	Name    string
	Entries []int32
	More    bool
}

// PreferencesAgain are those of the clusters by the entries of another spec, and which entries select them. Which clusters an entry selects
// is told for those there were; of others it is known only if they select by name.
func PreferencesAgain(clusters []Selected, now, before *v1alpha1.FederatedHPAAssignment) (map[string]assignment.Preference,
	map[string][]int32, error) {
	entries := slices.Clone(now.ClusterAutoscalingPreference)
	selecting := map[string][]int32{}
	var facts []assignment.ClusterFacts
	for i := range entries {
		var names, others []string
		for k := range clusters {
			selects, err := clusters[k].by(i, now, before)
			if err != nil {
				return nil, nil, err
			}
			if others = append(others, clusters[k].Name); selects {
				names, others = append(names, clusters[k].Name), others[:len(others)-1]
				selecting[clusters[k].Name] = append(selecting[clusters[k].Name], int32(i))
			}
		}
		entries[i].TargetCluster = &v1alpha1.ClusterAffinity{ClusterNames: names, ExcludeClusters: others}
	}
	for k := range clusters {
		facts = append(facts, assignment.ClusterFacts{Name: clusters[k].Name})
	}
	preferences, err := assignment.Preferences(assignment.Policy(now.FederatedHPAAssignmentType), entries, facts)
	return preferences, selecting, err
}

// by reports whether an entry selects the cluster.
func (c *Selected) by(entry int, now, before *v1alpha1.FederatedHPAAssignment) (bool, error) {
	affinity := now.ClusterAutoscalingPreference[entry].TargetCluster
	if before != nil && entry < len(before.ClusterAutoscalingPreference) &&
		equality.Semantic.DeepEqual(affinity, before.ClusterAutoscalingPreference[entry].TargetCluster) {
		if c.More {
			return false, fmt.Errorf("cluster %s is selected by more entries of clusterAutoscalingPreference than the explanation names", c.Name)
		}
		return slices.Contains(c.Entries, int32(entry)), nil
	}
	if affinity != nil && (affinity.LabelSelector != nil || affinity.FieldSelector != nil) {
		return false, fmt.Errorf("spec.federatedHPAAssignment.clusterAutoscalingPreference[%d].targetCluster: which clusters another selector "+
			"of labels or fields selects is not known; give clusterNames", entry)
	}
	return assignment.Matches(affinity, assignment.ClusterFacts{Name: c.Name})
}

// MostEntries is how many entries are named that select a cluster.
const MostEntries = 16

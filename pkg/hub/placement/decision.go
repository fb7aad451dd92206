// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// inventory is the API in which schedulers of a cluster inventory say which clusters they chose.
var inventory = schema.GroupVersion{Group: "multicluster.x-k8s.io", Version: "v1alpha1"}

const (
	// DecisionAnnotation on an autoscaler names the decision of a scheduler, in its namespace, by which its clusters are selected: the
	// decision-key of PlacementDecisions, or the name of one that has no key.
	DecisionAnnotation = "fleetscale.io/placement-decision"

	// decisionKeyLabel is the same on all slices of one decision, decisionIndexLabel is the place of each among them, from 0.
	decisionKeyLabel   = "multicluster.x-k8s.io/decision-key"
	decisionIndexLabel = "multicluster.x-k8s.io/decision-index"

	// mostSlices bounds one decision: the API allows 100 clusters in each.
	mostSlices = 100
	// mostUnregistered bounds the clusters of one decision that nobody has registered: the status lists each, and each is waited for.
	mostUnregistered = 100
)

// PlacementDecision is what we read of the object of that name: a slice of the clusters that a scheduler chose.
type PlacementDecision struct { //nolint:revive // the scheme registers the kind by the name of the type
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Decisions are the clusters, at most 100.
	Decisions []ClusterDecision `json:"decisions"`
}

// ClusterDecision is one cluster.
type ClusterDecision struct {
	ClusterProfileRef ClusterProfile `json:"clusterProfileRef"`
}

// ClusterProfile names an object of that kind; without a namespace it is in that of whoever names it.
type ClusterProfile struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// DeepCopyObject implements runtime.Object.
func (d *PlacementDecision) DeepCopyObject() runtime.Object {
	c := *d
	d.DeepCopyInto(&c.ObjectMeta)
	c.Decisions = slices.Clone(d.Decisions)
	return &c
}

// PlacementDecisionList is a list of them.
type PlacementDecisionList struct { //nolint:revive // as above
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []PlacementDecision `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *PlacementDecisionList) DeepCopyObject() runtime.Object {
	c := *l
	l.DeepCopyInto(&c.ListMeta)
	c.Items = nil
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].DeepCopyObject().(*PlacementDecision))
	}
	return &c
}

// CheckDecision returns what is wrong with the value of [DecisionAnnotation]; "": nothing. A key of a decision is the value of a label,
// and the name of an object is none of more than 63 characters here, so that it can be one.
func CheckDecision(name string) string {
	if name == "" {
		return "must name a PlacementDecision"
	}
	if len(validation.IsValidLabelValue(name)) > 0 {
		return "must be the name or the " + decisionKeyLabel + " of a PlacementDecision, of at most 63 characters"
	}
	return ""
}

// chosen returns the ClusterProfiles of a decision, by all of its slices in a namespace, in their order by name. An error says what
// keeps the slices from being a whole: then nobody may act by them.
func chosen(name, namespace string, parts []PlacementDecision) ([]ClusterProfile, error) {
	switch {
	case len(parts) == 0:
		return nil, fmt.Errorf("there is no PlacementDecision %q in the namespace, and none has the label %s=%s", name, decisionKeyLabel, name)
	case len(parts) > mostSlices:
		return nil, fmt.Errorf("the decision %q has %d PlacementDecisions; at most %d can be read", name, len(parts), mostSlices)
	}
	if err := whole(name, parts); err != nil {
		return nil, err
	}
	all := map[ClusterProfile]bool{}
	for i := range parts {
		for _, d := range parts[i].Decisions {
			ref := d.ClusterProfileRef
			if ref.Namespace == "" {
				ref.Namespace = namespace
			}
			if len(validation.IsDNS1123Label(ref.Namespace)) > 0 || len(validation.IsDNS1123Subdomain(ref.Name)) > 0 {
				return nil, fmt.Errorf("PlacementDecision %q: a clusterProfileRef names no ClusterProfile", parts[i].Name)
			}
			all[ref] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), ClusterProfile.compare), nil
}

// whole is nil unless the slices say their places and one place is lacking or taken twice, as while a scheduler writes them: a cluster that
// moves from one to another would seem to be chosen no more. That the last places are lacking does not
// show. Slices that do not say their places are taken to be whole.
func whole(name string, parts []PlacementDecision) error {
	places := map[int]bool{}
	for i := range parts {
		text, placed := parts[i].Labels[decisionIndexLabel]
		if !placed {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n >= len(parts) || places[n] {
			return fmt.Errorf("the decision %q is not whole: PlacementDecision %q has %s=%s, and there are %d", name, parts[i].Name,
				decisionIndexLabel, text, len(parts))
		}
		places[n] = true
	}
	if len(places) > 0 && len(places) < len(parts) {
		return fmt.Errorf("the decision %q is not whole: %d of its %d PlacementDecisions have no %s", name, len(parts)-len(places), len(parts),
			decisionIndexLabel)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package sight

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/hubtest"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

var noon = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

// members are registered clusters, and why each is silent.
type members map[string]*fleet.Silence

// dead is of a registration that leads nowhere, and never did.
var dead = &fleet.Silence{Reason: fleet.ReasonUnreachable, Detail: "nobody ever answered"}

func (m members) Settled() error { return nil }

// Clusters are those; of a dead one nothing is known but that it does not answer, so it joins.
func (m members) Clusters() []workload.Cluster {
	all := map[string]*federatedhpatest.Member{}
	for name, silence := range m {
		one := federatedhpatest.NewMember(&federatedhpatest.World{}, name)
		one.Silent, one.Joins = silence, silence == dead
		all[name] = &one
	}
	return federatedhpatest.Clusters(all)
}

// placed is where others place a workload.
type placed struct {
	on    map[string]*int32
	known bool
	err   error
}

func (p placed) Of(context.Context, string, autoscalingv2.CrossVersionObjectReference) (map[string]*int32, placement.Rule, error) {
	if !p.known {
		return p.on, placement.Nobody, p.err
	}
	return p.on, placement.Unsaid, p.err
}

// words are the clusters of a sight: in brackets those that are not selected, with a star those that are silent, with a
// question mark those without a preference.
func words(s Sight) string {
	var all []string
	for _, c := range s.Clusters {
		word := c.Facts.Name
		if c.Placed != nil {
			word += fmt.Sprint("=", *c.Placed)
		}
		if c.Silence != nil {
			word += "*"
		}
		if !c.Preferred {
			word += "?"
		}
		if !c.Selected {
			word = "[" + word + "]"
		}
		all = append(all, word)
	}
	for _, gone := range s.Deregistered {
		all = append(all, "-"+gone.Name)
	}
	return strings.Join(all, " ")
}

// scheduled are the decision web, of the clusters b and z, of which nobody has registered z, and none.
func scheduled(t *testing.T) *placement.Decisions {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := placement.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	web := &placement.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	for _, name := range []string{"b", "z"} {
		ref := placement.ClusterProfile{Namespace: "fleet", Name: name}
		web.Decisions = append(web.Decisions, placement.ClusterDecision{ClusterProfileRef: ref})
	}
	none := &placement.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "none"}}
	return &placement.Decisions{
		Hub: hubtest.NewBuilder(scheme).WithObjects(web, none).Build(),
		ClusterOf: func(namespace, name string) (string, bool) {
			if name == "z" {
				return "clusterprofile." + namespace + "." + name, false
			}
			return name, true
		},
	}
}

// Whoever names a decision where none are read is told so, and nothing is concluded.
func TestSelectWithoutDecisions(t *testing.T) {
	r := &Reader{Clock: clocktesting.NewFakePassiveClock(noon)}
	r.Fleet, r.Timeout = members{"a": nil}, time.Second
	object := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{placement.DecisionAnnotation: "web"}}}
	s, err := r.Select(t.Context(), object, false)
	var fault *selection.SpecError
	told := errors.As(err, &fault) && strings.Contains(fault.Message, "start the controller-manager with --placement-decisions")
	if !told || s.Clusters != nil {
		t.Errorf("clusters %v with error %v", s.Clusters, err)
	}
}

func TestSelect(t *testing.T) {
	three := members{"a": nil, "b": &fleet.Silence{Reason: fleet.ReasonTimeout}, "c": nil}
	only := func(names ...string) func(*v1alpha1.FederatedHPA) {
		return func(f *v1alpha1.FederatedHPA) {
			f.Spec.ClusterAffinity = &v1alpha1.ClusterAffinity{ClusterNames: names}
		}
	}
	knows := func(names ...string) func(*v1alpha1.FederatedHPA) {
		return func(f *v1alpha1.FederatedHPA) {
			for _, name := range names {
				f.Status.Clusters = append(f.Status.Clusters, v1alpha1.ClusterStatus{Name: name})
			}
		}
	}
	prefers := func(names ...string) func(*v1alpha1.FederatedHPA) {
		return func(f *v1alpha1.FederatedHPA) {
			f.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{FederatedHPAAssignmentType: v1alpha1.AssignmentStaticWeighted}
			f.Spec.FederatedHPAAssignment.ClusterAutoscalingPreference = []v1alpha1.TargetClusterAutoscalingPreference{{
				TargetCluster: &v1alpha1.ClusterAffinity{ClusterNames: names}, StaticWeight: new(int32(2))}}
		}
	}
	unreadable := func(f *v1alpha1.FederatedHPA) {
		odd := []metav1.LabelSelectorRequirement{{Key: "k", Operator: "Odd"}}
		f.Spec.ClusterAffinity = &v1alpha1.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchExpressions: odd}}
	}
	decided := func(name string) func(*v1alpha1.FederatedHPA) {
		return func(f *v1alpha1.FederatedHPA) {
			f.Annotations = map[string]string{placement.DecisionAnnotation: name}
		}
	}
	two := placed{on: map[string]*int32{"a": new(int32(3)), "z": nil}, known: true}
	tests := map[string]struct {
		members members
		placed  *placed
		change  []func(*v1alpha1.FederatedHPA)
		want    string
		err     string
	}{
		"all that are registered":             {three, nil, nil, "a b* c", ""},
		"none":                                {members{}, nil, nil, "", ""},
		"those of the affinity":               {three, nil, []func(*v1alpha1.FederatedHPA){only("a", "b")}, "a b*", ""},
		"and those that the status names":     {three, nil, []func(*v1alpha1.FederatedHPA){only("a"), knows("c", "x")}, "a [c] -x", ""},
		"those where others place it":         {three, &two, nil, "a=3 z*", ""},
		"of them, those of the affinity":      {three, &two, []func(*v1alpha1.FederatedHPA){only("a", "b")}, "a=3", ""},
		"nobody places it":                    {three, &placed{}, nil, "a b* c", ""},
		"placed nowhere":                      {three, &placed{known: true}, nil, "", ""},
		"where cannot be read":                {three, &placed{err: errors.New("no")}, nil, "", "reading where Deployment \"web\" is placed: no"},
		"not those that are joining":          {members{"a": nil, "b": dead, "c": dead}, nil, nil, "a", ""},
		"not even if only they are named":     {members{"a": nil, "b": dead}, nil, []func(*v1alpha1.FederatedHPA){only("b")}, "", ""},
		"unless the workload is placed there": {members{"a": dead, "b": dead}, &two, nil, "a=3* z*", ""},
		"or the status names them": {members{"a": nil, "b": dead, "c": dead},
			nil, []func(*v1alpha1.FederatedHPA){knows("b")}, "a b*", ""},
		"those that a scheduler chose":           {three, nil, []func(*v1alpha1.FederatedHPA){decided("web")}, "b* clusterprofile.fleet.z*", ""},
		"of them, those that the affinity names": {three, nil, []func(*v1alpha1.FederatedHPA){decided("web"), only("a", "b")}, "b*", ""},
		"a scheduler chose none":                 {three, nil, []func(*v1alpha1.FederatedHPA){decided("none")}, "", ""},
		"a scheduler has not chosen yet": {three, nil, []func(*v1alpha1.FederatedHPA){decided("later")}, "",
			`reading where Deployment "web" is placed, by the annotation fleetscale.io/placement-decision: there is no PlacementDecision ` +
				`"later" in the namespace, and none has the label multicluster.x-k8s.io/decision-key=later`},
		"a scheduler and others place it": {three, &two, []func(*v1alpha1.FederatedHPA){decided("web")}, "",
			"metadata.annotations[fleetscale.io/placement-decision]: must not be set where Karmada places workloads"},
		"a decision without a name": {three, nil, []func(*v1alpha1.FederatedHPA){decided("")}, "",
			"metadata.annotations[fleetscale.io/placement-decision]: must name a PlacementDecision"},
		"a decision that can have no such name": {three, nil, []func(*v1alpha1.FederatedHPA){decided("a,b=c")}, "",
			"metadata.annotations[fleetscale.io/placement-decision]: must be the name or the multicluster.x-k8s.io/decision-key of a " +
				"PlacementDecision, of at most 63 characters"},
		"one is not preferred": {three, nil, []func(*v1alpha1.FederatedHPA){prefers("a", "b")}, "a b* c?", ""},
		"an unreadable affinity": {three, nil, []func(*v1alpha1.FederatedHPA){unreadable}, "",
			`spec.clusterAffinity: reading labelSelector: "Odd" is not a valid label selector operator`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := &Reader{Clock: clocktesting.NewFakePassiveClock(noon)}
			r.Fleet, r.Timeout = tc.members, time.Second
			if tc.placed != nil {
				r.Placements = tc.placed
			}
			r.Decisions = scheduled(t)
			object := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
			object.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
			for _, change := range tc.change {
				change(object)
			}
			s, err := r.Select(t.Context(), object, false)
			said := ""
			if err != nil {
				said = err.Error()
			}
			fleettest.Same(t, "", []string{tc.want, tc.err}, []string{words(s), said})
			if (s.Clusters == nil) != (tc.err != "") {
				t.Errorf("clusters %v with error %v", s.Clusters, err)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/recording"
)

// ClusterPoint is one cluster at a decision.
type ClusterPoint struct {
	Name  string      `json:"name"`
	Was   ClusterSide `json:"was"`
	Would ClusterSide `json:"would"`
}

// ClusterSide is one of the two: what the cluster runs when the decision is made, and the bounds that it is given; in central mode there
// are none.
type ClusterSide struct {
	// Replicas are whole but where they are a share of the fleet's.
	Replicas float64 `json:"replicas"`
	Min      int32   `json:"min,omitempty"`
	Max      int32   `json:"max,omitempty"`
	// Use is that of its own Pods, as in [Side]. Nil: it is not known.
	Use *int64 `json:"use,omitempty"`
	// Unknown is why the load of the cluster is not known, and so what it would run; empty: it is.
	Unknown Unknown `json:"unknown,omitempty"`
}

func byName(c ClusterPoint, name string) int { return strings.Compare(c.Name, name) }

// AtMax: its autoscaler may not add any.
func (s *ClusterSide) AtMax() bool { return s.Max > 0 && s.Replicas >= float64(s.Max) }

// splits is what is known between two decisions on bounds.
type splits struct {
	Options
	*Result
	specs map[*v1alpha1.FederatedHPASpec]*v1alpha1.FederatedHPASpec
	// places are the clusters as they would be, by name, and memory and incomplete what else the last step left; nil: until now all specs
	// are as they were.
	places     map[string]*place
	memory     v1alpha1.AssignmentStatus
	incomplete bool
	last       *recording.Record
}

func (r *splits) step(record *recording.Record) (Point, error) {
	s := &record.Split.Snapshot
	step := assignment.Next(*s)
	if !sameStep(&step, &record.Split.Said) {
		r.Differences++
	}
	told := make([]Unknown, len(s.Sites))
	for i := range told {
		told[i] = r.unknown(&s.Sites[i], record.Spec)
	}
	carried := record.Split.Carried(step)
	was := divisionOf(s, &carried, told)
	would, err := r.would(record, told)
	if err != nil {
		return Point{}, err
	}
	if would == nil {
		would = was
	}
	p := Point{At: s.Now, Was: was.side(), Would: would.side(), Unknown: would.unknown(), Clusters: together(was, would)}
	p.Was.Asked, p.Would.Asked = asked(s), asked(s)
	r.last = record
	return p, nil
}

// would is the division as it would be; nil: as it was. Told is why the load of each site is not known.
func (r *splits) would(record *recording.Record, told []Unknown) (*division, error) {
	spec, err := r.changed(record.Spec)
	if err != nil || spec == record.Spec && r.places == nil {
		return nil, err
	}
	s, err := r.snapshot(record, spec)
	if err != nil {
		return nil, err
	}
	unknown := r.shift(record, s, told)
	step := assignment.Next(*s)
	r.memory, r.incomplete = step.Memory, step.Incomplete
	for i := range s.Sites {
		r.places[s.Sites[i].Name].told(step.Sites[s.Sites[i].Name])
	}
	return divisionOf(s, &step, unknown), nil
}

// changed returns the other spec, or the same one if it says the same.
func (r *splits) changed(before *v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) {
	if r.Change == nil {
		return before, nil
	}
	if known := r.specs[before]; known != nil {
		return known, nil
	}
	spec, err := r.Change(before)
	if err != nil {
		return nil, err
	}
	if equality.Semantic.DeepEqual(spec, before) {
		spec = before
	}
	if spec.FederatedHPAAssignment == nil {
		return nil, errors.New("spec.federatedHPAAssignment: what central mode would decide is not known")
	}
	if err := explanation.SplitBySame(spec, before); err != nil {
		return nil, err
	}
	if r.specs == nil {
		r.specs = map[*v1alpha1.FederatedHPASpec]*v1alpha1.FederatedHPASpec{}
	}
	r.specs[before] = spec
	return spec, nil
}

// snapshot is that of the record under another spec, before its sites are shifted.
func (r *splits) snapshot(record *recording.Record, spec *v1alpha1.FederatedHPASpec) (*assignment.Snapshot, error) {
	s := record.Split.Snapshot
	s.Follow(spec, record.Split.Usual)
	s.Sites = slices.Clone(s.Sites)
	begins := r.places == nil
	if begins {
		r.places = map[string]*place{}
	} else {
		s.Memory = r.memory
	}
	s.Changed = begins || r.incomplete || record.Question.Generation != r.last.Question.Generation
	selected := make([]explanation.Selected, len(s.Sites))
	for i := range s.Sites {
		selected[i] = explanation.Selected{Name: s.Sites[i].Name, Entries: record.Split.Entries[i]}
	}
	preferences, _, err := explanation.PreferencesAgain(selected, spec.FederatedHPAAssignment, record.Spec.FederatedHPAAssignment)
	if err != nil {
		return nil, err
	}
	for i := range s.Sites {
		site := &s.Sites[i]
		preference, preferred := preferences[site.Name]
		switch {
		case preferred && site.Presence == assignment.Leaving && !preferredBefore(record, i):
			return nil, fmt.Errorf("cluster %s would take part then: what it runs and can host is not known", site.Name)
		case !preferred:
			site.Presence = assignment.Leaving
		}
		if site.Preference = preference; begins {
			r.places[site.Name] = placeOf(site)
		}
	}
	return &s, nil
}

// preferredBefore: a cluster took part by the preferences of the spec as it was.
func preferredBefore(record *recording.Record, i int) bool {
	a := record.Spec.FederatedHPAAssignment
	selective := a.FederatedHPAAssignmentType == v1alpha1.FederatedHPAAssignmentType(assignment.StaticWeighted) ||
		a.FederatedHPAAssignmentType == v1alpha1.FederatedHPAAssignmentType(assignment.Prioritized)
	return !selective || len(a.ClusterAutoscalingPreference) == 0 || len(record.Split.Entries[i]) > 0
}

// shift has the sites be as they would be, and returns why what each runs then is not known.
func (r *splits) shift(record *recording.Record, s *assignment.Snapshot, told []Unknown) []Unknown {
	before := r.places
	r.places = make(map[string]*place, len(s.Sites))
	unknown, all := slices.Clone(told), Unknown("")
	for i := range s.Sites {
		was, site := &record.Split.Snapshot.Sites[i], &s.Sites[i]
		p := before[site.Name]
		if p == nil { // it has come since
			p = &place{current: was.Current}
		}
		r.places[site.Name] = p
		p.run(was, s)
		p.shift(was, site)
		switch {
		case was.Presence == assignment.Leaving && site.Presence == assignment.Leaving:
		case (was.Current == 0) != (site.Current == 0) || site.Presence == assignment.Leaving && was.Current > 0:
			all = worse(all, Elsewhere) // it would arrive in the others
		case was.Max == 0 && p.Max > 0:
			unknown[i] = NotTold
		}
		if s.Policy.ByCapacity() && !record.Split.Snapshot.Policy.ByCapacity() && was.Additional == nil && site.Presence == assignment.Present {
			all = worse(all, Capacity)
		}
	}
	for i := range unknown {
		unknown[i] = worse(unknown[i], all)
	}
	return unknown
}

// worse is the reason that counts of two.
func worse(a, b Unknown) Unknown {
	if a == "" || b != "" && slices.Index(Reasons, b) < slices.Index(Reasons, a) {
		return b
	}
	return a
}

// sameStep: all that clusters are told is the same.
func sameStep(a, b *assignment.Step) bool {
	if a.Action != b.Action || len(a.Sites) != len(b.Sites) {
		return false
	}
	for name, one := range a.Sites {
		other, known := b.Sites[name]
		if !known || one.Min != other.Min || one.Max != other.Max || one.Hold != other.Hold || one.Window != other.Window ||
			one.State != other.State || !ptr.Equal(one.Scale, other.Scale) {
			return false
		}
	}
	return true
}

// division is one side at one time.
type division struct {
	clusters map[string]ClusterSide
	use      *int64
	still    bool
}

// divisionOf is what the sites run, with the bounds of the step. Unknown is why the load of each is not known.
func divisionOf(s *assignment.Snapshot, step *assignment.Step, unknown []Unknown) *division {
	d := &division{clusters: map[string]ClusterSide{}, still: step.Still}
	for i := range s.Sites {
		site := &s.Sites[i]
		if site.Presence == assignment.Leaving && site.Current == 0 {
			continue
		}
		next := step.Sites[site.Name]
		var use *int64
		if len(site.Ratios) > 0 && site.Current > 0 && site.Max > 0 {
			use = new(min(slices.Max(site.Ratios), math.MaxInt32) / 10)
		}
		d.clusters[site.Name], d.use = ClusterSide{float64(site.Current), next.Min, next.Max, use, unknown[i]}, higher(d.use, use)
	}
	return d
}

func (d *division) side() Side {
	s := Side{Use: d.use, Held: d.still}
	for _, c := range d.clusters {
		s.Replicas, s.Max = within32(int64(s.Replicas)+int64(c.Replicas)), within32(int64(s.Max)+int64(c.Max))
		s.AtMax = s.AtMax || c.AtMax()
	}
	return s
}

// unknown is why what some of the clusters run is not known.
func (d *division) unknown() (why Unknown) {
	for _, c := range d.clusters {
		why = worse(why, c.Unknown)
	}
	return why
}

// together are the clusters of both sides.
func together(was, would *division) (all []ClusterPoint) {
	for name, side := range was.clusters {
		all = append(all, ClusterPoint{name, side, would.clusters[name]})
	}
	for name, side := range would.clusters {
		if _, known := was.clusters[name]; !known {
			all = append(all, ClusterPoint{Name: name, Would: side})
		}
	}
	slices.SortFunc(all, func(a, b ClusterPoint) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// asked is what the load takes in all clusters together.
func asked(s *assignment.Snapshot) int32 {
	n := int64(0)
	for i := range s.Sites {
		if s.Sites[i].Presence != assignment.Leaving {
			n += int64(needed(&s.Sites[i], s.Tolerance))
		}
	}
	return within32(n)
}

// unknown is why the load of a cluster is not known, by whichever spec.
func (r *splits) unknown(s *assignment.Site, spec *v1alpha1.FederatedHPASpec) Unknown {
	switch {
	case s.Presence == assignment.Leaving:
		return ""
	case s.Presence == assignment.Silent:
		return Unseen
	case s.Current == 0 || s.Stands == 0:
		return ""
	case !s.ScalingActive:
		return Unusable
	case s.TooManyReplicas && s.Current >= s.Max && len(s.Ratios) == 0, r.cutOff(s, spec):
		return CutOff
	}
	return ""
}

// cutOff: the Pods use all that they may of what they request.
func (r *splits) cutOff(s *assignment.Site, spec *v1alpha1.FederatedHPASpec) bool {
	if r.CutOff == 0 || len(s.Ratios) != len(spec.Metrics) {
		return false
	}
	for i := range spec.Metrics {
		target := v1alpha1.TargetOf(&spec.Metrics[i])
		if target != nil && target.AverageUtilization != nil &&
			min(s.Ratios[i], math.MaxInt32)*int64(*target.AverageUtilization) >= 1000*r.CutOff {
			return true
		}
	}
	return false
}

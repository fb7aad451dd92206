// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// SizeSide is one side of a decision on sizes: what there would be if all Pods had what is recommended for them, and were changed by the
// rules by which Pods are.
type SizeSide struct {
	// Cores and GiB are what all Pods request together.
	Cores float64 `json:"cores"`
	GiB   float64 `json:"gib"`
	// AboveCPU and AboveMemory: a container used more than it would have requested.
	AboveCPU    bool `json:"aboveCPU,omitempty"`
	AboveMemory bool `json:"aboveMemory,omitempty"`
	// Uncovered are how many containers were killed for want of memory that would have had no more than they had then.
	Uncovered int `json:"uncovered,omitempty"`
	// Changes are how many Pods were given another size.
	Changes int `json:"changes,omitempty"`
}

// InFact is what Pods did at a decision on sizes, by whichever spec.
type InFact struct {
	// Cores and GiB are what they requested together.
	Cores float64 `json:"cores"`
	GiB   float64 `json:"gib"`
	// Kills are how many containers were killed for want of memory since the decision before.
	Kills int `json:"kills,omitempty"`
}

// resizes is what is known between two decisions on sizes.
type resizes struct {
	Options
	*Result
	specs      map[*v1alpha1.MultidimPodAutoscalerSpec]*v1alpha1.MultidimPodAutoscalerSpec
	was, would kept
	// advised is what was advised last by the other spec; of the fleet the cluster has no name.
	advised map[spot]sizes.Advice
}

// spot is a container in a cluster.
type spot struct{ cluster, container string }

// milli are the thousandths of a core, and gib the bytes of a GiB.
const milli, gib = 1000, 1 << 30

// kept are what the Pods of each cluster request by one side.
type kept map[string]*keptPods

type keptPods struct {
	since      time.Time
	containers map[string]sizes.Amounts
}

func (r *resizes) step(record *recording.Record) (Point, error) {
	s := record.Sizes
	was, err := recommendation.Decide(&s.Question)
	if err != nil {
		return Point{}, err
	}
	if said := recording.SaidOf(&was); !said.Same(&s.Said) {
		r.Differences++
	}
	p := Point{At: record.Question.Now, Unknown: r.unknown(s), InFact: inFact(s)}
	p.Was = r.was.side(record, &was, 1+r.Headroom)
	if r.ChangeSizes == nil {
		p.Would = p.Was
		return p, nil
	}
	would, err := r.decide(s)
	if err != nil {
		return Point{}, err
	}
	p.Would = r.would.side(record, &would, 1+r.Headroom)
	return p, nil
}

// decide makes the decision by the other spec.
func (r *resizes) decide(s *recording.Sizes) (recommendation.Decision, error) {
	q := s.Question
	spec, err := r.changed(q.Spec)
	if err != nil {
		return recommendation.Decision{}, err
	}
	q.Spec, q.Known = spec, r.held(&q)
	advice, err := q.Advise()
	if err != nil {
		return recommendation.Decision{}, err
	}
	r.advised = map[spot]sizes.Advice{}
	for _, a := range advice {
		r.advised[spot{container: a.Container}] = a.Fleet
		for i := range a.In {
			r.advised[spot{q.Clusters[i].Name, a.Container}] = a.In[i]
		}
	}
	return q.Sizes(advice), nil
}

// held is what is known, where nothing becomes less than what was advised last by the other spec.
func (r *resizes) held(q *recommendation.Question) []recommendation.Known {
	hold := func(k *recommendation.KnownUse, at spot) {
		if last, told := r.advised[at]; told && k.Last != (sizes.Advice{}) {
			k.Last = last
		}
	}
	all := slices.Clone(q.Known)
	for i := range all {
		k := &all[i]
		hold(&k.Fleet, spot{container: k.Container})
		k.In = slices.Clone(k.In)
		for n := range k.In {
			hold(&k.In[n], spot{q.Clusters[n].Name, k.Container})
		}
	}
	return all
}

// changed returns the other spec. What it asks for that was not recorded is found out by the decision.
func (r *resizes) changed(before *v1alpha1.MultidimPodAutoscalerSpec) (*v1alpha1.MultidimPodAutoscalerSpec, error) {
	if known := r.specs[before]; known != nil {
		return known, nil
	}
	spec, err := r.ChangeSizes(before)
	if err != nil {
		return nil, err
	}
	if field := otherThanSizes(spec, before); field != "" {
		return nil, fmt.Errorf("spec.%s: what would be recommended by another one is not known; constraints, policy, and scope: Fleet can be "+
			"changed", field)
	}
	r.specs[before] = spec
	return spec, nil
}

// otherThanSizes is a field by which other Pods, or another number of them, would have run; empty: there is none.
func otherThanSizes(a, b *v1alpha1.MultidimPodAutoscalerSpec) string {
	for _, field := range []struct {
		name string
		a, b any
	}{
		{"scaleTargetRef", a.ScaleTargetRef, b.ScaleTargetRef}, {"goals", a.Goals, b.Goals}, {"recommenders", a.Recommenders, b.Recommenders},
		{"constraints.global", a.Constraints.Global, b.Constraints.Global}, {"clusterAffinity", a.ClusterAffinity, b.ClusterAffinity},
		{"clusterTolerations", a.ClusterTolerations, b.ClusterTolerations}, {"replicaDistribution", a.ReplicaDistribution, b.ReplicaDistribution},
		{"federatedHPAAssignment", a.FederatedHPAAssignment, b.FederatedHPAAssignment},
	} {
		if !equality.Semantic.DeepEqual(field.a, field.b) {
			return field.name
		}
	}
	return ""
}

// unknown is why what would have been is not known, by whichever spec.
func (r *resizes) unknown(s *recording.Sizes) Unknown {
	why, told := Unknown(""), false
	for i := range s.Question.Known {
		k := &s.Question.Known[i].Fleet
		if told = told || k.Samples > 0; k.Silent {
			why = worse(why, Unseen)
		}
	}
	if !told {
		return NotTold
	}
	for _, all := range s.Used {
		for i := range all {
			if r.CutOff > 0 && int64(all[i].OfLimit) >= r.CutOff {
				why = worse(why, CutOff)
			}
		}
	}
	return why
}

func inFact(s *recording.Sizes) *InFact {
	f := &InFact{}
	for _, all := range s.Used {
		for i := range all {
			f.Cores += float64(all[i].Requested[sizes.CPU]) / milli
			f.GiB += float64(all[i].Requested[sizes.Memory]) / gib
			f.Kills += int(all[i].Kills)
		}
	}
	return f
}

// side is what there is by a decision. What was used, so many times, and who was killed, is held against the sizes from before it.
func (k kept) side(record *recording.Record, d *recommendation.Decision, times float64) Side {
	s := record.Sizes
	side := Side{Sizes: &SizeSide{}}
	for i := range s.Question.Clusters {
		pods := podsOf(s.Used[i])
		side.Replicas = within32(int64(side.Replicas) + int64(pods))
		if pods == 0 {
			continue
		}
		name := s.Question.Clusters[i].Name
		if k[name] == nil {
			k[name] = &keptPods{since: record.Question.Now, containers: map[string]sizes.Amounts{}}
		}
		k[name].step(side.Sizes, record.Question.Now, times, s.Used[i], d.Clusters[i].Sizes)
	}
	return side
}

// step holds what was used against what the Pods request, changes that if it is due, and adds it up.
func (k *keptPods) step(side *SizeSide, now time.Time, times float64, used []recording.Used, all []sizes.Size) {
	p := sizes.Running{Started: k.since}
	for i := range all {
		k.begin(&used[i], &all[i])
		has := k.containers[all[i].Name]
		k.judge(side, &used[i], has, times)
		p.Containers = append(p.Containers, sizes.RunningContainer{
			Name: all[i].Name, Resources: sizes.Resources{Requests: has, Limits: recommendation.NoAmounts()}, Size: all[i],
			New: recommendation.NoDefaults(), OOM: used[i].Kills > 0,
		})
	}
	due := len(sizes.Candidates([]sizes.Running{p}, now)) > 0
	if due {
		k.since, side.Changes = now, side.Changes+int(podsOf(used))
	}
	for i := range all {
		has := k.containers[all[i].Name]
		for r, target := range all[i].Target {
			if due && target >= 0 {
				has[r] = target
			}
		}
		k.containers[all[i].Name] = has
		side.Cores += float64(max(0, has[sizes.CPU])) * float64(used[i].Pods) / milli
		side.GiB += float64(max(0, has[sizes.Memory])) * float64(used[i].Pods) / gib
	}
}

// podsOf is how many Pods containers are of.
func podsOf(used []recording.Used) (pods int32) {
	for i := range used {
		pods = max(pods, used[i].Pods)
	}
	return pods
}

// begin has a container that is new, or is sized from now on, have what is recommended; what is not sized has what it requests.
func (k *keptPods) begin(used *recording.Used, size *sizes.Size) {
	has, known := k.containers[size.Name]
	if !known {
		has = recommendation.NoAmounts()
	}
	for r, target := range size.Target {
		switch {
		case target < 0 && used.Pods > 0:
			has[r] = used.Requested[r] / int64(used.Pods)
		case has[r] < 0:
			has[r] = target
		}
	}
	k.containers[size.Name] = has
}

func (k *keptPods) judge(side *SizeSide, used *recording.Used, has sizes.Amounts, times float64) {
	above := func(r sizes.Resource) bool { return float64(used.Peak[r])*times > float64(max(0, has[r])) }
	side.AboveCPU = side.AboveCPU || above(sizes.CPU)
	side.AboveMemory = side.AboveMemory || above(sizes.Memory)
	if has[sizes.Memory] <= used.Had {
		side.Uncovered += int(used.Kills)
	}
}

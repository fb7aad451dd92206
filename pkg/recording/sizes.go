// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/guard"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// Sizes is a decision on what the containers of a MultidimPodAutoscaler's workload should request. What was used is not in it as
// histograms, but as what each percentile of them comes to ([sizes.Told]): from that a decision can be made by whatever percentile, margin
// and bounds, to the last digit, and it hardly changes from one decision to the next, while weights do with each sample.
type Sizes struct {
	// Question is what it is made of. Its spec is the whole one, with its defaults.
	Question recommendation.Question
	// Used are what the Pods used, of each cluster and each container of the template: no decision is made of that.
	Used [][]Used
	// Said is what was decided.
	Said Said
}

// Used is what the containers of one name request and use in one cluster.
type Used struct {
	// Pods are those that count.
	Pods int32
	// Requested is what they request together, and Peak the most that one of them was measured to use; None: it was not.
	Requested, Peak sizes.Amounts
	// Above are how many used more than they request, of each resource.
	Above [2]int32
	// OfLimit is the most that one used of its limit of cpu, in percent; 0: none has one, or it is not known.
	OfLimit int32
	// Kills are how many were killed for want of memory since the decision before, and Had is the most that one of these requested.
	Kills int32
	Had   int64
}

// Said is what was said of containers of the template, in its order: for the fleet, and in each cluster, where the bounds are left out.
type Said struct {
	Fleet []sizes.Size
	In    [][]sizes.Size
}

// SaidOf is what a decision says.
func SaidOf(d *recommendation.Decision) Said {
	s := Said{Fleet: make([]sizes.Size, len(d.Fleet)), In: make([][]sizes.Size, len(d.Clusters))}
	for i := range d.Fleet {
		s.Fleet[i] = sizes.Size{Advice: d.Fleet[i].Advice, Limits: d.Fleet[i].Limits}
	}
	for i := range d.Clusters {
		s.In[i] = make([]sizes.Size, len(d.Clusters[i].Sizes))
		for k := range d.Clusters[i].Sizes {
			of := &d.Clusters[i].Sizes[k]
			s.In[i][k] = sizes.Size{Advice: sizes.Advice{Target: of.Target}, Limits: of.Limits}
		}
	}
	return s
}

// Same reports whether the same is said.
func (s *Said) Same(o *Said) bool {
	same := func(a, b sizes.Size) bool { return a.Advice == b.Advice && a.Limits == b.Limits }
	return slices.EqualFunc(s.Fleet, o.Fleet, same) &&
		slices.EqualFunc(s.In, o.In, func(a, b []sizes.Size) bool { return slices.EqualFunc(a, b, same) })
}

// NewSizes returns the record of a decision on sizes, which shares the question.
func NewSizes(object Object, generation int64, now time.Time, s *Sizes) *Record {
	object.Kind = SizesKind
	r := &Record{Object: object, Sizes: s}
	r.Question.Namespace, r.Question.Generation, r.Question.Now = object.Namespace, generation, now
	return r
}

const mostContainers = 1000 // of a template, or that initialize it: more than a hub stores

// fits: the record can be read again.
func (s *Sizes) fits() bool {
	t := &s.Question.Template
	return len(s.Question.Clusters) <= mostSites && max(len(t.Containers), len(t.Initial)) <= mostContainers
}

// sizes goes over the record of sizes but for the object and the spec, which has the number spec.
func (l *ledger) sizes(r *Record, spec *int64) {
	if l.reading {
		r.Sizes = &Sizes{}
	}
	s, q := r.Sizes, &r.Sizes.Question
	l.time(&r.Question.Now)
	l.int(&r.Question.Generation)
	l.int(spec)
	number(l, &r.Outcome)
	l.amounts(&q.PodMinimum)
	l.int32(&q.Replicas)
	l.amounts(&q.Template.Overhead)
	upTo(l, mostContainers, &q.Template.Containers, l.container)
	upTo(l, mostContainers, &q.Template.Initial, l.container)
	upTo(l, mostContainers, &s.Said.Fleet, func(size *sizes.Size) {
		for _, a := range []*sizes.Amounts{&size.Target, &size.Lower, &size.Upper, &size.Limits} {
			l.amounts(a)
		}
	})
	upTo(l, mostContainers, &q.Known, func(k *recommendation.Known) {
		l.string(&k.Container)
		l.known(r, &k.Fleet)
		upTo(l, mostSites, &k.In, func(in *recommendation.KnownUse) { l.known(r, in) })
	})
	upTo(l, mostSites, &q.Clusters, l.room)
	upTo(l, mostSites, &s.Used, func(all *[]Used) { upTo(l, mostContainers, all, l.used) })
	upTo(l, mostSites, &s.Said.In, func(all *[]sizes.Size) {
		upTo(l, mostContainers, all, func(size *sizes.Size) {
			l.amounts(&size.Target)
			l.amounts(&size.Limits)
		})
	})
}

// amounts are at least None, and at most what a Pod has: with others nothing is computed.
func (l *ledger) amounts(a *sizes.Amounts) {
	for i := range a {
		if l.int(&a[i]); a[i] < sizes.None || a[i] > recommendation.Most {
			l.unsound = true
		}
	}
}

func (l *ledger) resources(of *sizes.Resources) {
	l.amounts(&of.Requests)
	l.amounts(&of.Limits)
}

func (l *ledger) container(c *recommendation.Container) {
	l.string(&c.Name)
	l.resources(&c.Resources)
	l.bool(&c.RunsOn)
}

// known goes over what is known of a use. The time of the first sample, as if the last one were of now, stays from one decision to the
// next.
func (l *ledger) known(r *Record, k *recommendation.KnownUse) {
	for i := range k.Reached {
		for n := range k.Reached[i] {
			reached := int64(k.Reached[i][n])
			l.int(&reached)
			if k.Reached[i][n] = uint8(reached); int64(k.Reached[i][n]) != reached {
				l.err = errors.Join(l.err, errDelta)
			}
		}
	}
	begun := r.Question.Now.UnixNano() - int64(k.Span)
	l.int(&begun)
	k.Span = time.Duration(r.Question.Now.UnixNano() - begun)
	number(l, &k.Samples)
	l.bool(&k.Silent)
	if k.Silent {
		l.amounts(&k.Last.Target)
		l.amounts(&k.Last.Lower)
		l.amounts(&k.Last.Upper)
	}
}

func (l *ledger) room(c *recommendation.Cluster) {
	l.string(&c.Name)
	l.resources(&c.Defaults)
	list(l, &c.Rooms, func(room *sizes.Room) {
		for _, rules := range []*sizes.LimitRange{&room.Container, &room.Pod} {
			l.amounts(&rules.Min)
			l.amounts(&rules.Max)
			l.amounts(&rules.MaxRatio)
		}
		l.resources(&room.Quota)
		l.amounts(&room.Node)
		l.int(&room.Headroom)
		l.amounts(&room.Accepted)
	})
}

func (l *ledger) used(u *Used) {
	l.int32(&u.Pods)
	for i := range u.Requested {
		l.int(&u.Requested[i])
	}
	l.amounts(&u.Peak)
	for i := range u.Above {
		l.int32(&u.Above[i])
	}
	l.int32(&u.OfLimit)
	l.int32(&u.Kills)
	l.int(&u.Had)
}

// completeSizes reports whether a decision can be made of the record.
func (r *Record) completeSizes() bool {
	s, q := r.Sizes, &r.Sizes.Question
	if len(s.Used) != len(q.Clusters) || len(s.Said.In) != len(q.Clusters) || len(s.Said.Fleet) != len(q.Template.Containers) {
		return false
	}
	for i := range q.Clusters {
		if len(s.Used[i]) != len(q.Template.Containers) || len(s.Said.In[i]) != len(q.Template.Containers) ||
			slices.ContainsFunc(q.Clusters[i].Rooms, func(room sizes.Room) bool { return room.Headroom < 0 || room.Headroom > 100 }) {
			return false
		}
	}
	if slices.ContainsFunc(q.Known, func(k recommendation.Known) bool {
		return !k.Fleet.Sound() || slices.ContainsFunc(k.In, func(in recommendation.KnownUse) bool { return !in.Sound() })
	}) {
		return false
	}
	_, err := q.Advise()
	return err == nil
}

func encodeSizesSpec(spec *v1alpha1.MultidimPodAutoscalerSpec) (string, error) {
	text, err := json.Marshal(spec)
	return string(text), err
}

// decodeSizesSpec fills in what a spec leaves out: whoever wrote it may not have.
func decodeSizesSpec(text string) (*v1alpha1.MultidimPodAutoscalerSpec, error) {
	m := &v1alpha1.MultidimPodAutoscaler{}
	if err := guard.JSON([]byte(text), &m.Spec); err != nil {
		return nil, fmt.Errorf("decoding a spec: %w", err)
	}
	if err := json.Unmarshal([]byte(text), &m.Spec); err != nil {
		return nil, fmt.Errorf("decoding a spec: %w", err)
	}
	v1alpha1.DefaultMultidimPodAutoscaler(m)
	return &m.Spec, nil
}

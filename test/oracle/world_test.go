// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	vpa "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/model"

	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// world is a workload in a few clusters, remembered by us and by the library. Both are told the same.
type world struct {
	*rand.Rand
	names [][]*part // for each container of a Pod, its parts in the clusters
	now   time.Time
	style style
	seen  tally
}

// part is what the containers of one name used in one cluster.
type part struct {
	ours      *sizes.Use
	theirs    *model.AggregateContainerState
	instances []*instance
	clock     time.Duration // how far the cluster's clock is ahead
}

// instance is one container of one Pod.
type instance struct {
	ours     sizes.Instance
	theirs   *model.ContainerState
	measured time.Time
}

// style is how a world behaves.
type style struct {
	step    time.Duration // between the moments when somebody asks, about
	steady  bool          // the steps are equal
	gaps    bool          // now and then nobody asks for months
	values  int           // so many different values are used; 0: any
	largest [2]float64    // powers of ten
	ooms    int           // one in so many moments; 0: none
	saves   int           // one in so many moments the programs are restarted; 0: never
}

// tally counts what was done, so that a test can say what it has compared.
type tally struct{ samples, repeats, ooms, restarts, advices, differences int }

func newWorld(seed uint64) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 4))}
	w.style = style{
		step:    []time.Duration{time.Minute, 17 * time.Minute, time.Hour, 24 * time.Hour}[w.IntN(4)],
		steady:  w.IntN(2) == 0,
		gaps:    w.IntN(4) == 0,
		values:  []int{0, 0, 1, 2, 10}[w.IntN(5)],
		largest: [2]float64{1 + 5.5*w.Float64(), 7 + 6*w.Float64()},
		ooms:    []int{0, 5, 40}[w.IntN(3)],
		saves:   []int{0, 0, 10, 60}[w.IntN(4)],
	}
	w.now = time.Date(2026, 1, w.IntN(600), 0, 0, 0, 0, time.UTC)
	if w.IntN(2) == 0 {
		w.now = w.now.Add(time.Duration(w.Int64N(int64(24 * time.Hour))))
	}
	clusters := 1 + w.IntN(5)
	for range 1 + w.IntN(3) {
		var parts []*part
		for range clusters {
			p := &part{ours: &sizes.Use{}, theirs: model.NewAggregateContainerState()}
			if w.IntN(4) == 0 {
				p.clock = time.Duration(w.IntN(40)-20) * 12 * time.Hour
			}
			for range []int{1, 2, 4, 10, 20}[w.IntN(5)] {
				p.add()
			}
			parts = append(parts, p)
		}
		w.names = append(w.names, parts)
	}
	return w
}

func (p *part) add() {
	p.instances = append(p.instances, &instance{theirs: model.NewContainerState(nil, p.theirs)})
}

// live is one moment: what the containers use is asked for, some of them are killed, and the programs may be restarted.
func (w *world) live(t *testing.T) {
	step := w.style.step
	if !w.style.steady {
		step = 1 + time.Duration(w.Float64()*2*float64(step))
	}
	if w.style.gaps && w.IntN(30) == 0 {
		step += time.Duration(w.IntN(130)) * 24 * time.Hour
	}
	w.now = w.now.Add(step)
	quiet := w.IntN(4) == 0 // some are not heard
	for _, parts := range w.names {
		for _, p := range parts {
			for _, i := range p.instances {
				if !quiet || w.IntN(2) == 0 {
					w.sample(t, p, i)
				}
				if w.style.ooms > 0 && w.IntN(w.style.ooms*len(p.instances)) == 0 {
					w.kill(t, p, i)
				}
			}
			if w.IntN(50) == 0 { // a Pod is replaced
				p.instances = p.instances[1:]
				p.add()
			}
			if w.style.saves > 0 && w.IntN(w.style.saves) == 0 {
				w.restart(t, p)
			}
		}
	}
}

// amount is at random, and evenly so over the powers of ten.
func (w *world) amount(r sizes.Resource) int64 {
	power := w.style.largest[r]
	switch values := w.style.values; {
	case values > 0:
		power *= float64(w.IntN(values)+1) / float64(values)
	case r == sizes.CPU && w.IntN(20) == 0:
		return 0
	default:
		power *= w.Float64()
	}
	return int64(math.Pow(10, power))
}

// sample has a container measured. The library cannot tell repeats but by the clock that it also ages by, so it is not told them.
func (w *world) sample(t *testing.T, p *part, i *instance) {
	s := sizes.Sample{Amounts: sizes.Amounts{w.amount(sizes.CPU), w.amount(sizes.Memory)}, At: w.now, Measured: w.now.Add(p.clock)}
	repeat := !i.measured.IsZero() && w.IntN(10) == 0
	if repeat {
		s.Measured = i.measured
	}
	i.measured = s.Measured
	for r, absent := range []bool{w.IntN(30) == 0, w.IntN(30) == 0} {
		if absent {
			s.Amounts[r] = sizes.None
		}
	}
	if taken := i.ours.Add(p.ours, s); taken == repeat {
		t.Fatalf("a sample (repeated: %t) is taken: %t", repeat, taken)
	}
	if repeat {
		w.seen.repeats++
		return
	}
	w.seen.samples++
	for r, name := range []model.ResourceName{model.ResourceCPU, model.ResourceMemory} {
		i.theirs.AddSample(&model.ContainerUsageSample{MeasureStart: s.At, Usage: model.ResourceAmount(s.Amounts[r]), Resource: name})
	}
}

func (w *world) kill(t *testing.T, p *part, i *instance) {
	requested := w.amount(sizes.Memory)
	i.ours.OOM(p.ours, requested, w.now)
	if err := i.theirs.RecordOOM(w.now, model.ResourceAmount(requested)); err != nil {
		t.Fatal(err)
	}
	w.seen.ooms++
}

// restart stores what both know, has each read what the other has stored, and forgets the containers.
func (w *world) restart(t *testing.T, p *part) {
	running := make([]sizes.Instance, len(p.instances))
	stored := model.NewAggregateContainerState()
	stored.MergeContainerState(p.theirs)
	for n, i := range p.instances {
		running[n] = i.ours
		if w.now.Before(i.theirs.WindowEnd) { // as VPA's recommender does before it stores a checkpoint
			stored.SubtractSample(&model.ContainerUsageSample{
				MeasureStart: i.theirs.WindowEnd, Usage: i.theirs.GetMaxMemoryPeak(), Resource: model.ResourceMemory,
			})
		}
	}
	theirs, err := stored.SaveToCheckpoint()
	if err != nil {
		t.Fatal(err)
	}
	var ours sizes.Checkpoint
	convert(t, theirs, &ours)
	var forThem vpa.VerticalPodAutoscalerCheckpointStatus
	convert(t, p.ours.Save(w.now, running), &forThem)
	if p.ours, err = sizes.Load(ours, w.now); err != nil {
		t.Fatal(err)
	}
	p.theirs = model.NewAggregateContainerState()
	if err := p.theirs.LoadFromCheckpoint(&forThem); err != nil {
		t.Fatal(err)
	}
	for n := range p.instances {
		p.instances[n] = &instance{theirs: model.NewContainerState(nil, p.theirs)}
	}
	w.seen.restarts++
}

// convert goes by the JSON in which checkpoints are stored.
func convert(t *testing.T, from, to any) {
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatalf("%T as %T: %v", from, to, err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"fmt"
	"time"

	"github.com/fleetscale/fleetscale/pkg/chart"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
)

// What memory is to be reached.
const (
	bytesOfPod     = 300
	mibOfMember    = 0.1
	million        = 1_000_000
	mibOfMillion   = 1024
	maxAnswerBytes = 256 * mib // the default of --max-answer-bytes
)

// over takes from each round what of knows in it; a round that does not know it is left out.
func over(rounds []growth, of func(growth) (float64, bool)) (all measure.Samples) {
	for _, g := range rounds {
		if v, known := of(g); known {
			all = append(all, v)
		}
	}
	return all
}

// memoryFigures are those of all rounds, in bytes.
type memoryFigures struct {
	empty, joined, perMember measure.Samples
	peak, peakOfBound        measure.Samples
	peerHeap, peerPod        measure.Samples
	peerResident             measure.Samples
	known                    []knownFigures // as in the plan
}

type knownFigures struct {
	heap, resident, perPod, perFurther, ofPeer measure.Samples
}

func memoryFiguresOf(p plan, rounds []growth) memoryFigures {
	every := func(of func(growth) float64) measure.Samples {
		return over(rounds, func(g growth) (float64, bool) { return of(g), true })
	}
	f := memoryFigures{
		empty:        every(func(g growth) float64 { return g.empty.heap }),
		joined:       every(func(g growth) float64 { return g.joined.heap }),
		perMember:    every(func(g growth) float64 { return (g.joined.heap - g.empty.heap) / float64(p.KnownMembers) }),
		peerHeap:     every(func(g growth) float64 { return g.peer.with.heap }),
		peerPod:      every(func(g growth) float64 { return g.peer.perPod() }),
		peerResident: every(func(g growth) float64 { return g.peer.with.resident }),
		peak: over(rounds, func(g growth) (float64, bool) {
			if g.busy == nil {
				return 0, false
			}
			return g.busy.peak, true
		}),
		peakOfBound: over(rounds, func(g growth) (float64, bool) {
			if g.busy == nil {
				return 0, false
			}
			return g.busy.peak / peakBound(g.known[len(g.known)-1]), true
		}),
	}
	for i := range p.Known {
		f.known = append(f.known, knownFiguresOf(p, rounds, i))
	}
	return f
}

// peakBound returns what an adapter may occupy while it writes as many answers as
// it ever does at once: the garbage collector lets a heap double.
func peakBound(rest footprint) float64 { return 2 * (rest.heap + maxAnswerBytes) }

func (m peerMemory) perPod() float64 { return (m.with.heap - m.before.heap) / float64(m.pods) }

func knownFiguresOf(p plan, rounds []growth, i int) knownFigures {
	at := func(of func(growth) float64) measure.Samples {
		return over(rounds, func(g growth) (float64, bool) {
			if i >= len(g.known) {
				return 0, false
			}
			return of(g), true
		})
	}
	perPod := func(g growth) float64 { return (g.known[i].heap - g.joined.heap) / float64(p.Known[i]) }
	f := knownFigures{
		heap:     at(func(g growth) float64 { return g.known[i].heap }),
		resident: at(func(g growth) float64 { return g.known[i].resident }),
		perPod:   at(perPod),
		ofPeer:   at(func(g growth) float64 { return perPod(g) / g.peer.perPod() }),
	}
	if i > 0 {
		f.perFurther = at(func(g growth) float64 {
			return (g.known[i].heap - g.known[i-1].heap) / float64(p.Known[i]-p.Known[i-1])
		})
	}
	return f
}

func memorySection(p plan, rounds []growth) report.Section {
	f, last, refused := memoryFiguresOf(p, rounds), len(p.Known)-1, refusals{}
	for _, g := range rounds {
		if g.busy != nil {
			refused.add(g.busy.refused)
		}
	}
	s := report.Section{
		Name: "memory", Title: "Memory of the adapter",
		Text: []string{
			fmt.Sprintf("%d members have the Pods, %d of each namespace; all are asked for. Each round is a new adapter; rounds: %s. Heap is "+
				"what is in use after a garbage collection, the least of %d samples over a period, as members' lists are read during others; bytes "+
				"for each Pod are those above an adapter with these members and a Pod of each.",
				p.KnownMembers, perNamespace, p.knownRounds(), samplesPerPeriod),
			fmt.Sprintf("A member costs %s KiB of heap (an adapter without members has %s MiB): its connections, above all.",
				parts(f.perMember, kib), parts(f.empty, mib)),
			fmt.Sprintf("While %d clients ask for lists of %d Pods in JSON, without pause for %s: resident %s MiB at most; refused %s. What is "+
				"in flight is bounded by `--max-answer-bytes`, %d MiB if it is not set; "+
				"the bound of all is twice the sum of this and of the heap before, since the garbage collector lets a heap double.",
				manyClients, min(perNamespace, p.Known[last]), (5 * p.For).Round(time.Millisecond), parts(f.peak, mib), refused, maxAnswerBytes/mib),
		},
		Reaches: memoryReaches(p, f),
		Figures: map[string][]float64{
			"heap_bytes/members=0":                                                    f.empty,
			fmt.Sprintf("heap_bytes/members=%d", p.KnownMembers):                      f.joined,
			fmt.Sprintf("peak_bytes/clients=%d", manyClients):                         f.peak,
			fmt.Sprintf("metrics-server/heap_bytes/pods=%d", rounds[0].peer.pods):     f.peerHeap,
			fmt.Sprintf("metrics-server/resident_bytes/pods=%d", rounds[0].peer.pods): f.peerResident,
		},
	}
	t := report.Table{Header: []string{"server", "Pods", "heap, MiB", "bytes of heap for each Pod", "for each further Pod",
		"of metrics-server's", "resident, MiB"}}
	t.Rows = append(t.Rows, []string{metricsServer, fmt.Sprint(rounds[0].peer.pods), parts(f.peerHeap, mib), f.peerPod.String(), "–", "1",
		parts(f.peerResident, mib)})
	plot := report.Plot{Plot: chart.Plot{Title: "Memory for Pods known", X: "Pods", Y: "MiB",
		Series: []chart.Series{{Name: "heap"}, {Name: "resident"}}}}
	for i, k := range f.known {
		pods := fmt.Sprint(p.Known[i])
		t.Rows = append(t.Rows, []string{ours, pods, parts(k.heap, mib), k.perPod.String(), k.perFurther.String(), k.ofPeer.String(),
			parts(k.resident, mib)})
		plot.Series[0].Points = append(plot.Series[0].Points, k.heap.Per(mib).Point(float64(p.Known[i])))
		plot.Series[1].Points = append(plot.Series[1].Points, k.resident.Per(mib).Point(float64(p.Known[i])))
		s.Figures["heap_bytes/pods="+pods] = k.heap
		s.Figures["resident_bytes/pods="+pods] = k.resident
	}
	s.Tables, s.Plots = []report.Table{t}, []report.Plot{plot}
	return s
}

func memoryReaches(p plan, f memoryFigures) []report.Reach {
	var all []report.Reach
	for i, k := range f.known {
		all = append(all, because(atMost(fmt.Sprintf("heap for each of %d Pods", p.Known[i]), bytesOfPod, "B", k.perPod),
			fmt.Sprintf("%d Pods of each of %d members share what a member costs that gives a list, however short",
				p.Known[i]/max(1, p.KnownMembers), p.KnownMembers)))
	}
	all = append(all, atMost("heap for each member", mibOfMember, "MiB", f.perMember.Per(mib)))
	for i, k := range f.known {
		if p.Known[i] == million {
			all = append(all, atMost(fmt.Sprintf("resident with %d Pods", million), mibOfMillion, "MiB", k.resident.Per(mib)))
		}
	}
	return append(all, atMost(fmt.Sprintf("peak under %d big lists at once, of its bound", manyClients), 1, "", f.peakOfBound))
}

// knownRounds tells how often each number of Pods was measured.
func (p plan) knownRounds() string {
	text := ""
	for i, n := range p.KnownRounds {
		text += fmt.Sprintf(", %d with %d Pods", n, p.Known[i])
	}
	return text[2:]
}

func parts(s measure.Samples, unit float64) string { return s.Per(unit).String() }

// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"math/big"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A figure is a value and what it was measured over.
type figure struct {
	value  resource.Quantity
	at     metav1.Time
	window *int64
}

// parts are the figures that become one.
type parts struct {
	figures []figure // one for each cluster that has one, in the order of adding
	cluster string   // whose the last one is
	word    Word
}

// add adds a cluster's part. One cluster's parts are added one after another:
// they are the same thing named twice, and count once, as the larger of them.
func (p *parts) add(cluster string, f figure) {
	last := len(p.figures) - 1
	if last < 0 || p.cluster != cluster {
		p.figures, p.cluster = append(p.figures, f), cluster
		return
	}
	twice := Max
	if p.word == Min {
		twice = Min
	}
	p.figures[last] = twice.merge(p.figures[last], f)
}

// merged is the one figure. A single part is passed on.
func (p *parts) merged() figure {
	if len(p.figures) > 1 {
		return p.word.merge(p.figures...)
	}
	only := p.figures[0]
	only.value = passed(only.value)
	return only
}

// merge takes the oldest time and the widest window of those that give one: the
// figure is no fresher and no sharper than its worst part.
func (w Word) merge(figures ...figure) figure {
	merged := figures[0]
	for _, f := range figures[1:] {
		if merged.at.IsZero() || !f.at.IsZero() && f.at.Before(&merged.at) {
			merged.at = f.at
		}
		if f.window != nil && (merged.window == nil || *f.window > *merged.window) {
			merged.window = f.window
		}
	}
	merged.value = w.value(figures)
	return merged
}

func (w Word) value(figures []figure) resource.Quantity {
	switch w {
	case Max, Min:
		return inMilli(nanos(w.extreme(figures)), 1)
	case Avg:
		return inMilli(total(figures), len(figures))
	default:
		return inMilli(total(figures), 1)
	}
}

func (w Word) extreme(figures []figure) resource.Quantity {
	extreme := passed(figures[0].value)
	for _, f := range figures[1:] {
		value := passed(f.value) // and so safe to compare: a member can say 1e999999999
		if order := value.Cmp(extreme); w == Max && order > 0 || w == Min && order < 0 {
			extreme = value
		}
	}
	return extreme
}

func total(figures []figure) *big.Int {
	sum := new(big.Int)
	for _, f := range figures {
		sum.Add(sum, nanos(f.value))
	}
	return sum
}

// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"cmp"
	"iter"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/metrics/pkg/apis/metrics"

	"github.com/fleetscale/fleetscale/pkg/compact"
)

// Batch is one member's answer to one question: samples in (namespace, name)
// order. It never changes once made. A nil Batch is empty.
type Batch struct {
	records []record
	values  []int64
	dropped int // items that were not asked for, or came twice
	// part is true if records and values are in those of another batch.
	part bool
}

// A record holds one pod or node. With its name, labels and values it takes
// some 200 bytes for a pod of two containers; the Go objects that it stands
// for take ten times as much.
type record struct {
	namespace string
	name      string
	labels    compact.Labels
	shape     shape
	// at is in nanoseconds of the Unix epoch, as the member's clock told it.
	at     int64
	window time.Duration
	// first is where the record's values begin in Batch.values; the shape says how many.
	first int32
}

// Sample is one pod's or one node's usage at one time.
type Sample struct {
	*record
	batch *Batch
}

// Len is the number of samples.
func (b *Batch) Len() int {
	if b == nil {
		return 0
	}
	return len(b.records)
}

// At is the i-th sample.
func (b *Batch) At(i int) Sample { return Sample{record: &b.records[i], batch: b} }

// inNamespace is that part of the batch. It keeps all of the batch in memory; see own.
func (b *Batch) inNamespace(name string) *Batch {
	if b == nil {
		return nil
	}
	after := func(r record, namespace string) int { return cmp.Compare(r.namespace, namespace) }
	from, _ := slices.BinarySearchFunc(b.records, name, after)
	to, _ := slices.BinarySearchFunc(b.records, name+"\x00", after) // what comes next in order
	return &Batch{records: b.records[from:to], values: b.values, part: true}
}

// own is the batch in memory of its own.
func (b *Batch) own() *Batch {
	if b == nil || !b.part {
		return b
	}
	own := &Batch{records: make([]record, 0, len(b.records)), values: make([]int64, 0, b.valuesOfRecords())}
	for _, r := range b.records {
		of := b.values[r.first:][:r.shape.values()]
		r.first = int32(len(own.values))
		own.records, own.values = append(own.records, r), append(own.values, of...)
	}
	return own
}

// valuesOfRecords may be fewer than the values: those are of the batch that it is a part of.
func (b *Batch) valuesOfRecords() (n int) {
	for i := range b.records {
		n += b.records[i].shape.values()
	}
	return n
}

// join is one batch of several, of which each has what comes after the one before it.
func join(parts []*Batch) *Batch {
	all := &Batch{}
	for _, part := range parts {
		first := int32(len(all.values))
		for _, r := range part.records {
			r.first += first
			all.records = append(all.records, r)
		}
		all.values = append(all.values, part.values...)
		all.dropped += part.dropped
	}
	return all
}

// bytes estimates what the batch takes in memory. What several samples in a row have in common is counted once, though
// other batches may have it too.
func (b *Batch) bytes() int64 {
	if b.Len() == 0 {
		return 0
	}
	bytes := len(b.records)*int(reflect.TypeFor[record]().Size()) + 8*b.valuesOfRecords()
	var last record
	for i := range b.records {
		r := &b.records[i]
		bytes += (len(r.name) + 15) &^ 15 // as strings are allocated
		if r.labels != last.labels {
			bytes += r.labels.Bytes() + uniqueBytes
		}
		if r.shape != last.shape {
			bytes += len(r.shape.text.Value()) + uniqueBytes
		}
		last = *r
	}
	return int64(bytes)
}

// uniqueBytes is what it takes to have a text once, beside the text.
const uniqueBytes = 208

// labelled is true when some sample bears a label.
func (b *Batch) labelled() bool {
	return b != nil && slices.ContainsFunc(b.records, func(r record) bool { return !r.labels.Empty() })
}

// unlabelled is true when there are samples and none bears a label: then the
// member may be one whose metrics API leaves labels out.
func (b *Batch) unlabelled() bool { return b.Len() > 0 && !b.labelled() }

// compare searches for a sample that both batches hold: if it bears another time
// than before, the member has measured since. Samples that come and go say
// nothing, for a deleted pod leaves between two measurements.
func (b *Batch) compare(old *Batch) comparison {
	var c comparison
	for i, j := 0, 0; i < b.Len() && j < old.Len(); {
		switch order := byName(b.records[i], old.records[j]); {
		case order < 0:
			i++
		case order > 0:
			j++
		case b.records[i].at != old.records[j].at:
			return comparison{newer: true, tells: true}
		default:
			c.tells = true
			i++
			j++
		}
	}
	return c
}

func byName(a, b record) int {
	return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
}

// Namespace is empty for a node.
func (s Sample) Namespace() string { return s.namespace }

// Name of the pod or node.
func (s Sample) Name() string { return s.name }

// AllLabels yields the labels by key.
func (s Sample) AllLabels() iter.Seq2[string, string] { return s.labels.All(s.name) }

// Window is the time over which the usage was measured.
func (s Sample) Window() time.Duration { return s.window }

// Containers yields the containers' names and usage, in the order of the pod.
// Of a node it yields one, without a name.
func (s Sample) Containers() iter.Seq2[string, Usage] {
	return s.shape.usages(s.batch.values[s.first:])
}

// Timestamp is the end of the window, by the member's clock.
func (s Sample) Timestamp() metav1.Time { return metav1.Time{Time: time.Unix(0, s.at)} }

// Pod writes the sample into m, with labels in a map of m's own that holds
// extra more than the pod's.
func (s Sample) Pod(m *metrics.PodMetrics, extra int) {
	m.ObjectMeta = s.meta(extra)
	m.Timestamp = s.Timestamp()
	m.Window = metav1.Duration{Duration: s.window}
	m.Containers = make([]metrics.ContainerMetrics, 0, s.shape.containers())
	for name, usage := range s.Containers() {
		m.Containers = append(m.Containers, metrics.ContainerMetrics{Name: name, Usage: usage.list()})
	}
}

// Node writes the sample into m; see Pod.
func (s Sample) Node(m *metrics.NodeMetrics, extra int) {
	m.ObjectMeta = s.meta(extra)
	m.Timestamp = s.Timestamp()
	m.Window = metav1.Duration{Duration: s.window}
	for _, usage := range s.Containers() {
		m.Usage = usage.list()
	}
}

func (s Sample) meta(extra int) metav1.ObjectMeta {
	set := make(map[string]string, extra+8)
	for key, value := range s.AllLabels() {
		set[key] = value
	}
	return metav1.ObjectMeta{Namespace: s.namespace, Name: s.name, Labels: set}
}

// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unique"

	"k8s.io/metrics/pkg/apis/external_metrics"
)

// Series makes one of what the clusters say of one external metric, by name and
// labels. Identical series are one thing seen from several clusters, such as a
// queue, so the empty word is [Max]: nothing is counted twice.
func Series(word Word, clusters map[string][]external_metrics.ExternalMetricValue) []external_metrics.ExternalMetricValue {
	found := map[string]*series{}
	var key identity
	for _, cluster := range slices.Sorted(maps.Keys(clusters)) {
		for i := range clusters[cluster] {
			item := &clusters[cluster][i]
			s := found[string(key.of(item))]
			if s == nil {
				figures := make([]figure, 0, len(clusters))
				s = &series{first: item, parts: parts{word: cmp.Or(word, Max), figures: figures}}
				found[string(key.text)] = s
			}
			s.add(cluster, figure{item.Value, item.Timestamp, item.WindowSeconds})
		}
	}
	merged := make([]external_metrics.ExternalMetricValue, 0, len(found))
	for _, text := range slices.Sorted(maps.Keys(found)) {
		merged = append(merged, found[text].whole())
	}
	return merged
}

// series is one series, wherever it is seen.
type series struct {
	first *external_metrics.ExternalMetricValue
	parts
}

func (s *series) whole() external_metrics.ExternalMetricValue {
	whole, f := *s.first, s.merged()
	whole.Value, whole.Timestamp, whole.WindowSeconds = f.value, f.at, f.window
	return whole
}

// Seen are series without their values, in the order of an answer. Each is in
// memory once, however many answers had it.
type Seen []unique.Handle[string]

// SeenIn returns the series of an answer; never nil.
func SeenIn(items []external_metrics.ExternalMetricValue) Seen {
	var key identity
	seen := make(Seen, len(items))
	for i := range items {
		seen[i] = unique.Make(string(key.of(&items[i])))
	}
	return seen
}

// Covers is true when every series that was there before is among what the
// clusters have now, whatever its value.
func Covers(clusters map[string][]external_metrics.ExternalMetricValue, before Seen) bool {
	var key identity
	missing := map[string]struct{}{}
	for _, series := range before {
		missing[series.Value()] = struct{}{}
	}
	for _, items := range clusters {
		for i := range items {
			delete(missing, string(key.of(&items[i])))
		}
	}
	return len(missing) == 0
}

// identity writes what makes a series that series. It keeps its memory from one
// series to the next.
type identity struct {
	text []byte
	keys []string
}

// of is the series' name and labels as one text. Texts are equal when these are,
// and their order is that of name, first key, its value, second key, and so on.
// It holds until the next call.
func (k *identity) of(s *external_metrics.ExternalMetricValue) []byte {
	k.keys = slices.AppendSeq(k.keys[:0], maps.Keys(s.MetricLabels))
	slices.Sort(k.keys)
	k.text = k.text[:0]
	k.write(s.MetricName)
	for _, key := range k.keys {
		k.write(key)
		k.write(s.MetricLabels[key])
	}
	return k.text
}

// write ends a word with what no word contains, once its zero bytes are told
// apart from it: labels of external metrics can be anything.
func (k *identity) write(word string) {
	k.text = append(k.text, strings.ReplaceAll(word, "\x00", "\x00\xff")...)
	k.text = append(k.text, "\x00\x01"...)
}

// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"iter"
	"maps"
	"slices"
	"unique"

	"k8s.io/apimachinery/pkg/labels"
)

// A labelSet holds one item's labels in little memory. Pods of one template
// share all but a few labels, so the shared part is written once for the whole
// process (unique forgets it when the last of them goes) and an item keeps only
// a handle to it and its own values, which are short.
type labelSet struct {
	// shared is a sequence of entries in key order: key, place, and the value
	// itself when the place is placeHere. Strings are led by their length.
	shared unique.Handle[string]
	// own holds the values of the placeOwn entries, each led by its length.
	own string
}

// Where an entry's value stands.
const (
	placeHere byte = iota // in the shared text
	placeName             // it is the item's name (a StatefulSet's pod-name label)
	placeOwn              // in the item's own text
)

// ownKeys are the well-known labels whose values number the pods of one
// workload. Left in the shared text they would make it unique to each pod.
func isOwnKey(key string) bool {
	switch key {
	case "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index":
		return true
	}
	return false
}

func newLabelSet(set map[string]string, name string) labelSet {
	var shared, own []byte
	for _, key := range slices.Sorted(maps.Keys(set)) {
		shared = appendText(shared, key)
		switch value := set[key]; {
		case value == name && name != "":
			shared = append(shared, placeName)
		case isOwnKey(key):
			shared = append(shared, placeOwn)
			own = appendText(own, value)
		default:
			shared = append(shared, placeHere)
			shared = appendText(shared, value)
		}
	}
	return labelSet{shared: unique.Make(string(shared)), own: string(own)}
}

// all yields the labels in key order. The strings share the set's memory.
func (l labelSet) all(name string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		rest, own := l.shared.Value(), l.own
		for rest != "" {
			var key, value string
			key, rest = cutText(rest)
			place := rest[0]
			rest = rest[1:]
			switch place {
			case placeName:
				value = name
			case placeOwn:
				value, own = cutText(own)
			default:
				value, rest = cutText(rest)
			}
			if !yield(key, value) {
				return
			}
		}
	}
}

func (l labelSet) empty() bool { return l.shared.Value() == "" }

// sampleLabels lets a selector look at an item's labels where they lie,
// without a map being made for each item that it refuses.
type sampleLabels struct {
	set  labelSet
	name string
}

var _ labels.Labels = sampleLabels{}

// Lookup finds a label's value.
func (s sampleLabels) Lookup(key string) (value string, found bool) {
	for k, v := range s.set.all(s.name) {
		if k == key {
			return v, true
		}
	}
	return "", false
}

// Has reports whether the label is there.
func (s sampleLabels) Has(key string) bool {
	_, found := s.Lookup(key)
	return found
}

// Get is the label's value, or the empty string.
func (s sampleLabels) Get(key string) string {
	value, _ := s.Lookup(key)
	return value
}

// SPDX-License-Identifier: Apache-2.0

package compact

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"unique"

	"k8s.io/apimachinery/pkg/labels"
)

// Labels are those of a Pod, or of another object, but for what follows from its name: so those of one workload are the
// same where it numbers and names its Pods by labels, as a StatefulSet and an Indexed Job do. They are comparable, and
// take the memory of a pointer. The zero value has none.
type Labels struct {
	// text reports whether the labels are personal, and then has an entry for each in the order of keys: key, place, and
	// the value itself when that is placeHere.
	text unique.Handle[string]
}

// Where the value of a label is.
const (
	placeHere   byte = iota // in the text
	placeName               // it is the name
	placeNumber             // it is what follows the last dash of the name
	placeIndex              // it is what stands before that dash, back to the one before
)

// indexKey is the label by which an Indexed Job numbers its Pods, whose names end with the number and some letters.
const indexKey = "batch.kubernetes.io/job-completion-index"

// LabelsOf are the labels of an object of that name.
func LabelsOf(set map[string]string, name string) Labels {
	if len(set) == 0 {
		return Labels{}
	}
	packed := []byte{0}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		place := placeOf(key, set[key], name)
		packed = append(AppendText(packed, key), place)
		if place == placeHere {
			packed = AppendText(packed, set[key])
		} else {
			packed[0] = 1
		}
	}
	return Labels{unique.Make(string(packed))}
}

func placeOf(key, value, name string) byte {
	switch {
	case value == name:
		return placeName
	case value == number(name):
		return placeNumber
	case key == indexKey && value == index(name):
		return placeIndex
	}
	return placeHere
}

func number(name string) string { return name[strings.LastIndexByte(name, '-')+1:] }

func index(name string) string {
	return number(name[:max(0, strings.LastIndexByte(name, '-'))])
}

// Empty is true if there is no label.
func (l Labels) Empty() bool { return l == Labels{} }

// Bytes is what the labels take where no other object has the same.
func (l Labels) Bytes() int {
	if l.Empty() {
		return 0
	}
	return len(l.text.Value())
}

// Personal is true if some value follows from the name: another object of the same Labels has another.
func (l Labels) Personal() bool { return !l.Empty() && l.text.Value()[0] != 0 }

// All yields the labels of the object of that name, in the order of keys.
func (l Labels) All(name string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		if l.Empty() {
			return
		}
		for rest := l.text.Value()[1:]; rest != ""; {
			var key, value string
			key, rest = CutText(rest)
			place := rest[0]
			rest = rest[1:]
			switch place {
			case placeHere:
				value, rest = CutText(rest)
			case placeName:
				value = name
			case placeNumber:
				value = number(name)
			case placeIndex:
				value = index(name)
			}
			if !yield(key, value) {
				return
			}
		}
	}
}

// Named are the labels of one object, as a selector takes them: where they lie, without a map being made.
type Named struct {
	Labels Labels
	Name   string
}

var _ labels.Labels = Named{}

// Lookup finds a label's value.
func (n Named) Lookup(key string) (value string, found bool) {
	for k, v := range n.Labels.All(n.Name) {
		if k == key {
			return v, true
		}
	}
	return "", false
}

// Has reports whether the label is there.
func (n Named) Has(key string) bool {
	_, found := n.Lookup(key)
	return found
}

// Get is the label's value, or the empty string.
func (n Named) Get(key string) string {
	value, _ := n.Lookup(key)
	return value
}

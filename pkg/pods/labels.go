// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

// labelSet is the labels of Pods that differ in nothing but what follows from
// their names: StatefulSets number their Pods and name them, by labels.
type labelSet struct {
	all []label // in order of keys
	// personal says that some value follows from the Pod's name.
	personal bool
}

type label struct {
	key   string
	value string // empty unless the place is verbatim
	place where
}

// where the value of a label is.
type where byte

const (
	verbatim where = iota
	inName         // it is the Pod's name
	inSuffix       // it is what follows the last dash of the name
)

func labelSetOf(set map[string]string, name string) labelSet {
	if len(set) == 0 {
		return labelSet{}
	}
	s := labelSet{all: make([]label, 0, len(set))}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		l := label{key: key, place: whereIs(set[key], name)}
		if l.place == verbatim {
			l.value = set[key]
		}
		s.personal = s.personal || l.place != verbatim
		s.all = append(s.all, l)
	}
	return s
}

func whereIs(value, name string) where {
	switch {
	case value == name:
		return inName
	case value == suffixOf(name):
		return inSuffix
	}
	return verbatim
}

func suffixOf(name string) string { return name[strings.LastIndexByte(name, '-')+1:] }

// podLabels are the labels of one Pod.
type podLabels struct {
	set  labelSet
	name string
}

var _ labels.Labels = podLabels{}

// Lookup finds a label's value.
func (p podLabels) Lookup(key string) (value string, found bool) {
	at, found := slices.BinarySearchFunc(p.set.all, key, func(l label, key string) int { return cmp.Compare(l.key, key) })
	if !found {
		return "", false
	}
	switch l := p.set.all[at]; l.place {
	case inName:
		return p.name, true
	case inSuffix:
		return suffixOf(p.name), true
	default:
		return l.value, true
	}
}

// Has says whether the label is there.
func (p podLabels) Has(key string) bool {
	_, found := p.Lookup(key)
	return found
}

// Get is the label's value, or the empty string.
func (p podLabels) Get(key string) string {
	value, _ := p.Lookup(key)
	return value
}

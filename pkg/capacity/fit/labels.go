// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"strings"
	"unique"

	"k8s.io/apimachinery/pkg/labels"
)

// labelSet is the labels of a Pod as text, key=value,..., held once for all Pods that have the same. The zero value has
// none.
type labelSet struct{ text unique.Handle[string] }

var _ labels.Labels = labelSet{}

func labelSetOf(m map[string]string) labelSet {
	return labelSet{unique.Make(labels.Set(m).String())}
}

// Lookup returns the value of a label, if there is one. Neither keys nor values may contain the signs between them.
func (s labelSet) Lookup(key string) (value string, exists bool) {
	if s == (labelSet{}) {
		return "", false
	}
	for pair := range strings.SplitSeq(s.text.Value(), ",") {
		if k, v, found := strings.Cut(pair, "="); found && k == key {
			return v, true
		}
	}
	return "", false
}

// Has says whether there is such a label.
func (s labelSet) Has(key string) bool {
	_, exists := s.Lookup(key)
	return exists
}

// Get returns the value of a label, or "".
func (s labelSet) Get(key string) string {
	value, _ := s.Lookup(key)
	return value
}

// SPDX-License-Identifier: Apache-2.0

package central

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// selectors are which Pods each FederatedHPA counts, so that two that count the same are found. An object comes in when
// its workload was read for the first time.
type selectors struct {
	mu          sync.Mutex
	byKey       map[client.ObjectKey]*chosen
	byNamespace map[string]shelves
}

// shelves hold the selectors of a namespace by one label that they want, and by its value. Those that want none are
// under the empty label.
type shelves map[string]map[string]map[*chosen]struct{}

// chosen is the Pods that one FederatedHPA counts.
type chosen struct {
	key          client.ObjectKey
	text         string // of the selector
	selector     labels.Selector
	clusters     []string // in order
	label, value string   // where it is shelved
	demands      map[string]string
}

func newSelectors() *selectors {
	return &selectors{byKey: map[client.ObjectKey]*chosen{}, byNamespace: map[string]shelves{}}
}

// choose notes what an object counts, and returns the others that might count the same: those whose selectors do not
// demand another value of one label.
func (s *selectors) choose(key client.ObjectKey, text string, selector labels.Selector, clusters []string) []*chosen {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.byKey[key]
	if own == nil || own.text != text || !slices.Equal(own.clusters, clusters) {
		s.take(own)
		own = &chosen{key: key, text: text, selector: selector, clusters: slices.Clone(clusters), demands: demanded(selector)}
		s.put(own)
	}
	return s.near(own)
}

func (s *selectors) forget(key client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(s.byKey[key])
}

func (s *selectors) put(c *chosen) {
	for label, value := range c.demands {
		if c.label == "" || label < c.label {
			c.label, c.value = label, value
		}
	}
	s.byKey[c.key] = c
	all := s.byNamespace[c.key.Namespace]
	if all == nil {
		all = shelves{}
		s.byNamespace[c.key.Namespace] = all
	}
	if all[c.label] == nil {
		all[c.label] = map[string]map[*chosen]struct{}{}
	}
	if all[c.label][c.value] == nil {
		all[c.label][c.value] = map[*chosen]struct{}{}
	}
	all[c.label][c.value][c] = struct{}{}
}

func (s *selectors) take(c *chosen) {
	if c == nil {
		return
	}
	delete(s.byKey, c.key)
	all := s.byNamespace[c.key.Namespace]
	delete(all[c.label][c.value], c)
	if len(all[c.label][c.value]) == 0 {
		delete(all[c.label], c.value)
	}
	if len(all[c.label]) == 0 {
		delete(all, c.label)
	}
	if len(all) == 0 {
		delete(s.byNamespace, c.key.Namespace)
	}
}

// near are the others of the namespace that may count the same Pods, in order of their names.
func (s *selectors) near(own *chosen) []*chosen {
	var found []*chosen
	for label, values := range s.byNamespace[own.key.Namespace] {
		if value, demands := own.demands[label]; demands {
			found = slices.AppendSeq(found, maps.Keys(values[value]))
			continue
		}
		for _, list := range values {
			found = slices.AppendSeq(found, maps.Keys(list))
		}
	}
	found = slices.DeleteFunc(found, func(c *chosen) bool { return c == own })
	slices.SortFunc(found, func(a, b *chosen) int { return compareKeys(a.key, b.key) })
	return found
}

// demanded are the labels that a selector wants to have one certain value.
func demanded(selector labels.Selector) map[string]string {
	wanted := map[string]string{}
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		operator, values := r.Operator(), r.ValuesUnsorted()
		if len(values) == 1 && (operator == selection.Equals || operator == selection.DoubleEquals || operator == selection.In) {
			wanted[r.Key()] = values[0]
		}
	}
	return wanted
}

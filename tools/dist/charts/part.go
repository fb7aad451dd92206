// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"maps"
	"reflect"
	"slices"
)

// part is a piece of an object, as values make it.
type part struct {
	fields map[string][]choice // of a map: choices for one key exclude each other
	more   []choice            // code that gives a map further fields
	items  []choice            // of a list
	list   bool
	merged bool   // a list of which each item has the condition of who added it
	value  any    // a scalar
	code   string // an action of a template in its place
	block  bool   // whether that gives lines of its own: those of a map, or items of a list
}

// choice is a part that is there if a condition holds.
type choice struct {
	when condition
	part *part
}

func newPart(value any) *part {
	switch v := value.(type) {
	case map[string]any:
		p := &part{fields: map[string][]choice{}}
		for key, field := range v {
			p.fields[key] = []choice{{part: newPart(field)}}
		}
		return p
	case []any:
		return &part{list: true, items: newItems("", v)}
	default:
		return &part{value: v}
	}
}

func newItems(when condition, values []any) (all []choice) {
	for _, v := range values {
		all = append(all, choice{when, newPart(v)})
	}
	return all
}

// change makes of a map what it is in another build, when a condition holds.
func (p *part) change(when condition, from, to map[string]any) {
	keys := maps.Clone(from)
	maps.Copy(keys, to)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		before, was := from[key]
		after, is := to[key]
		switch {
		case !was:
			p.add(key, when, after)
		case !is:
			p.remove(key, when)
		case !reflect.DeepEqual(before, after) && !p.changeWithin(key, when, before, after):
			p.remove(key, when)
			p.fields[key] = append(p.fields[key], choice{when, newPart(after)})
		}
	}
}

// add gives a map a field. Lists that several conditions add become one: kustomize puts what is added later before.
func (p *part) add(key string, when condition, value any) {
	added := newPart(value)
	for i, c := range p.fields[key] {
		if reflect.DeepEqual(c.part, added) {
			p.fields[key][i].when = c.when.or(when)
			return
		}
		if c.part.list && added.list {
			for j := range c.part.items {
				if !c.part.merged {
					c.part.items[j].when = c.part.items[j].when.and(c.when)
				}
			}
			c.part.merged = true
			c.part.items = append(newItems(when, value.([]any)), c.part.items...)
			p.fields[key][i].when = c.when.or(when)
			return
		}
	}
	p.fields[key] = append(p.fields[key], choice{when, added})
}

func (p *part) remove(key string, when condition) {
	for i, c := range p.fields[key] {
		p.fields[key][i].when = c.when.and(when.not())
	}
}

// changeWithin changes a field that stays. It reports false if that cannot be done: another takes its place then.
func (p *part) changeWithin(key string, when condition, before, after any) bool {
	if len(p.fields[key]) != 1 {
		return false
	}
	of := p.fields[key][0].part
	if from, ok := before.(map[string]any); ok {
		to, ok := after.(map[string]any)
		if ok {
			of.change(when, from, to)
		}
		return ok
	}
	from, ok := before.([]any)
	if !ok {
		return false
	}
	to, ok := after.([]any)
	return ok && of.changeItems(when, from, to)
}

// changeItems changes a list to which items are added at one of its ends, or whose maps have other fields.
func (p *part) changeItems(when condition, from, to []any) bool {
	more := len(to) - len(from)
	switch {
	case more > 0 && reflect.DeepEqual(to[:len(from)], from):
		p.items = append(p.items, newItems(when, to[len(from):])...)
		return true
	case more > 0 && reflect.DeepEqual(to[more:], from):
		p.items = append(newItems(when, to[:more]), p.items...)
		return true
	case more != 0 || len(p.items) != len(to):
		return false
	}
	for i := range to {
		_, isMap := from[i].(map[string]any)
		_, staysMap := to[i].(map[string]any)
		if !reflect.DeepEqual(from[i], to[i]) && (!isMap || !staysMap) {
			return false
		}
	}
	for i := range to {
		if !reflect.DeepEqual(from[i], to[i]) {
			p.items[i].part.change(when, from[i].(map[string]any), to[i].(map[string]any))
		}
	}
	return true
}

// plain is the value of a part that is the same whatever the values of the chart are.
func (p *part) plain() (value any, ok bool) {
	switch {
	case p.code != "":
		return nil, false
	case p.list:
		all := []any{}
		for _, c := range p.items {
			v, ok := c.part.plain()
			if !ok || c.when != "" {
				return nil, false
			}
			all = append(all, v)
		}
		return all, true
	case len(p.more) > 0:
		return nil, false
	case p.fields != nil:
		all := map[string]any{}
		for key, choices := range p.fields {
			if len(choices) != 1 || choices[0].when != "" {
				return nil, false
			}
			v, ok := choices[0].part.plain()
			if !ok {
				return nil, false
			}
			all[key] = v
		}
		return all, true
	}
	return p.value, true
}

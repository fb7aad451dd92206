// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Type knows where a Go type has quantities, and what decoding it takes. Nil has none, and takes nothing.
type Type struct {
	root  *node // nil: it has no quantities
	shape *shape
}

// TypeOf learns it of the type that object points to, which takes longer than to check an ordinary object.
func TypeOf(object any) *Type {
	t := reflect.TypeOf(object)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	nodes := explorer{}
	root := nodes.of(t)
	nodes.prune()
	return typed(root, shaper{}.of(t))
}

func typed(root *node, s *shape) *Type {
	if !root.leads {
		root = nil
	}
	return &Type{root, s}
}

// node is one type on the way to quantities.
type node struct {
	quantity bool
	list     bool  // of elem
	entries  bool  // a map with values elem
	elem     *node // nil unless list or entries
	fields   []field

	leads bool // to a quantity, or it is one
}

// field is one of a struct.
type field struct {
	name   string // in JSON; empty if it has none
	number int    // in protobuf; 0 if it has none
	node   *node
}

// explorer knows the nodes of the types found so far.
type explorer map[reflect.Type]*node

var quantity = reflect.TypeFor[resource.Quantity]()

func (e explorer) of(t reflect.Type) *node {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if known := e[t]; known != nil {
		return known
	}
	n := &node{quantity: t == quantity}
	e[t] = n // before what is in it: a type may hold itself
	switch {
	case n.quantity:
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		n.list, n.elem = true, e.of(t.Elem())
	case t.Kind() == reflect.Map:
		n.entries, n.elem = true, e.of(t.Elem())
	case t.Kind() == reflect.Struct:
		n.fields = e.fields(t)
	}
	return n
}

func (e explorer) fields(t reflect.Type) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		made := field{name: name, number: numberOf(f.Tag.Get("protobuf")), node: e.of(f.Type)}
		switch {
		case name == "-":
			made.name = ""
		case name == "" && f.Anonymous: // in JSON its fields stand among ours
			all = append(all, named(made.node.fields)...)
		case name == "":
			made.name = f.Name
		}
		all = append(all, made)
	}
	return all
}

// named are the fields as JSON has them.
func named(fields []field) []field {
	var all []field
	for _, f := range fields {
		if f.name != "" {
			all = append(all, field{name: f.name, node: f.node})
		}
	}
	return all
}

// numberOf reads a tag such as "bytes,2,opt,name=spec".
func numberOf(tag string) int {
	parts := strings.SplitN(tag, ",", 3)
	if len(parts) < 2 {
		return 0
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0
	}
	return number
}

// prune leaves out what leads to no quantity.
func (e explorer) prune() {
	for changed := true; changed; {
		changed = false
		for _, n := range e {
			if !n.leads && n.finds() {
				n.leads, changed = true, true
			}
		}
	}
	for _, n := range e {
		var leading []field
		for _, f := range n.fields {
			if f.node.leads {
				leading = append(leading, f)
			}
		}
		n.fields = leading
	}
}

func (n *node) finds() bool {
	if n.quantity || n.elem != nil && n.elem.leads {
		return true
	}
	for _, f := range n.fields {
		if f.node.leads {
			return true
		}
	}
	return false
}

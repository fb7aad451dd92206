// SPDX-License-Identifier: Apache-2.0

package admissiontest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// With returns a copy with changes: values by their places, such as
// spec.metrics[0].type. What lies on the way to a place is made.
func (m Manifest) With(changes map[string]any) (Manifest, error) {
	changed := clone(map[string]any(m))
	for _, place := range slices.Sorted(maps.Keys(changes)) {
		steps := strings.Split(strings.NewReplacer("[", ".", "]", "").Replace(place), ".")
		var err error
		if changed, err = put(changed, steps, changes[place]); err != nil {
			return nil, fmt.Errorf("setting %s: %w", place, err)
		}
	}
	copied, _ := changed.(map[string]any)
	return copied, nil
}

// put returns node with value at the end of the steps.
func put(node any, steps []string, value any) (any, error) {
	if len(steps) == 0 {
		return clone(value), nil
	}
	switch node := node.(type) {
	case nil:
		return put(map[string]any{}, steps, value)
	case map[string]any:
		if len(steps) == 1 && value == nil {
			delete(node, steps[0])
			return node, nil
		}
		below, err := put(node[steps[0]], steps[1:], value)
		node[steps[0]] = below
		return node, err
	case []any:
		return putItem(node, steps, value)
	}
	return nil, errors.New("there is a value on the way")
}

func putItem(list []any, steps []string, value any) (any, error) {
	i, err := strconv.Atoi(steps[0])
	switch {
	case err != nil || i < 0 || i > len(list):
		return nil, fmt.Errorf("%q is no place in a list of %d", steps[0], len(list))
	case i == len(list):
		list = append(list, nil)
	case len(steps) == 1 && value == nil:
		return append(list[:i:i], list[i+1:]...), nil
	}
	list[i], err = put(list[i], steps[1:], value)
	return list, err
}

func clone(value any) any {
	switch value := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(value))
		for name, item := range value {
			copied[name] = clone(item)
		}
		return copied
	case []any:
		copied := make([]any, len(value))
		for i, item := range value {
			copied[i] = clone(item)
		}
		return copied
	}
	return value
}

// Decode reads the manifest into one of our types, or one of Kubernetes'. A
// field that the type does not have is an error.
func (m Manifest) Decode(into any) error {
	text, err := yaml.Marshal(m)
	if err != nil {
		return err
	}
	return yaml.UnmarshalStrict(text, into)
}

// Kind is the kind of the object.
func (m Manifest) Kind() string {
	kind, _ := m["kind"].(string)
	return kind
}

// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// steps are the keys and indexes of a path as Kubernetes writes them: spec.metrics[0].name, metadata.labels[a.b/c].
func steps(path string) []string {
	var all []string
	for path != "" {
		switch end := strings.IndexAny(path, ".["); {
		case path[0] == '[':
			key, rest, closed := strings.Cut(path[1:], "]")
			if !closed {
				return all
			}
			all, path = append(all, key), strings.TrimPrefix(rest, ".")
		case end < 0:
			all, path = append(all, path), ""
		default:
			if end > 0 {
				all = append(all, path[:end])
			}
			path = path[end:]
			path = strings.TrimPrefix(path, ".")
		}
	}
	return all
}

// lineOf is that of the field at the path or, where it is missing, that of the innermost thing that should hold it.
func lineOf(node *yaml.Node, path string) int {
	line := node.Line
	for _, step := range steps(path) {
		key, value := child(node, step)
		if value == nil {
			break
		}
		line, node = key.Line, value
	}
	return line
}

// child returns what leads to a value, its key or itself, and the value; nil if there is none.
func child(node *yaml.Node, step string) (key, value *yaml.Node) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				key, value = node.Content[i], node.Content[i+1] // of a duplicate the last counts
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i]
		}
	}
	return key, value
}

// repeated calls found for each key that stands a second time in its mapping, with the path of the field.
func repeated(node *yaml.Node, path string, found func(path string, line int)) {
	switch node.Kind {
	case yaml.MappingNode:
		seen := map[string]bool{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			at := strings.TrimPrefix(path+"."+key.Value, ".")
			if seen[key.Value] {
				found(at, key.Line)
			}
			seen[key.Value] = true
			repeated(node.Content[i+1], at, found)
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			repeated(item, fmt.Sprintf("%s[%d]", path, i), found)
		}
	}
}

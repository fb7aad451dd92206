// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// walk calls visit for schema and everything below it, in the order of the names, and joins the errors.
func walk(schema *apiextensionsv1.JSONSchemaProps, path string, visit func(*apiextensionsv1.JSONSchemaProps, string) error) error {
	errs := []error{visit(schema, path)}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		child := schema.Properties[name]
		errs = append(errs, walk(&child, strings.TrimPrefix(path+"."+name, "."), visit))
		schema.Properties[name] = child
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		errs = append(errs, walk(schema.Items.Schema, path+"[]", visit))
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		errs = append(errs, walk(schema.AdditionalProperties.Schema, path+"{}", visit))
	}
	return errors.Join(errs...)
}

// wrapped is the end of a line of a comment that ends neither a sentence nor an item of a list.
var wrapped = regexp.MustCompile(`([^.:\s])\n([^\s*-])`)

// unwrap joins the lines of a description that were broken only to fit into the source: kubectl breaks them again to
// fit the terminal.
func unwrap(root *apiextensionsv1.JSONSchemaProps) error {
	return walk(root, "", func(schema *apiextensionsv1.JSONSchemaProps, _ string) error {
		schema.Description = wrapped.ReplaceAllString(schema.Description, "$1 $2")
		return nil
	})
}

// unbounded returns an error for each list, map and string that may be of any size. Kubernetes bounds the metadata.
func unbounded(root *apiextensionsv1.JSONSchemaProps) error {
	return walk(root, "", func(schema *apiextensionsv1.JSONSchemaProps, path string) error {
		if slices.Contains([]string{"apiVersion", "kind", "metadata"}, path) {
			return nil
		}
		if missing := missingBound(schema); missing != "" {
			return fmt.Errorf("%s may be of any size: give it %s, by a marker or in bounds.yaml", path, missing)
		}
		return nil
	})
}

func missingBound(schema *apiextensionsv1.JSONSchemaProps) string {
	text := schema.Type == "string" || schema.XIntOrString
	switch {
	case text && schema.MaxLength == nil && len(schema.Enum) == 0 && schema.Format == "":
		return "maxLength"
	case schema.Type == "array" && schema.MaxItems == nil:
		return "maxItems"
	case schema.AdditionalProperties != nil && schema.MaxProperties == nil:
		return "maxProperties"
	}
	return ""
}

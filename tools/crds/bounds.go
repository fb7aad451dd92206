// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// bound is one entry of bounds.yaml.
type bound struct {
	// Fields are patterns of field paths: a list's items are written [], a map's values {}, * is any one name, ** any
	// number of them, and {a,b} is either.
	Fields []string `json:"fields"`
	// Schema is laid over the schema of these fields.
	Schema apiextensionsv1.JSONSchemaProps `json:"schema"`

	patterns []*regexp.Regexp
	matched  []bool // by pattern
}

type bounds []*bound

func parseBounds(text []byte) (bounds, error) {
	var all bounds
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		return nil, fmt.Errorf("reading bounds.yaml: %w", err)
	}
	for _, b := range all {
		for _, field := range b.Fields {
			b.patterns = append(b.patterns, pattern(field))
		}
		b.matched = make([]bool, len(b.patterns))
	}
	return all, nil
}

var alternatives = regexp.MustCompile(`\\\{([a-zA-Z]+(?:,[a-zA-Z]+)+)\\\}`)

func pattern(field string) *regexp.Regexp {
	text := alternatives.ReplaceAllStringFunc(regexp.QuoteMeta(field), func(group string) string {
		return "(?:" + strings.ReplaceAll(strings.Trim(group, `\{}`), ",", "|") + ")"
	})
	text = strings.ReplaceAll(text, `\*\*`, `.+`)
	text = strings.ReplaceAll(text, `\*`, `[^.]+`)
	return regexp.MustCompile("^" + text + "$")
}

// apply lays each entry over the fields that it names.
func (all bounds) apply(root *apiextensionsv1.JSONSchemaProps) error {
	return walk(root, "", func(schema *apiextensionsv1.JSONSchemaProps, path string) error {
		for _, b := range all {
			if b.matches(path) {
				if err := overlay(schema, b.Schema); err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
			}
		}
		return nil
	})
}

func (b *bound) matches(path string) bool {
	found := false
	for i, p := range b.patterns {
		if p.MatchString(path) {
			b.matched[i], found = true, true
		}
	}
	return found
}

// unused returns an error for each pattern that no field matched: the field has another name now.
func (all bounds) unused() error {
	var errs []error
	for _, b := range all {
		for i, used := range b.matched {
			if !used {
				errs = append(errs, fmt.Errorf("bounds.yaml: no field matches %s", b.Fields[i]))
			}
		}
	}
	return errors.Join(errs...)
}

// overlay sets in schema what over sets. CEL rules are added to those that are there, a description takes the place of
// the one that is there; anything else may not be set twice.
func overlay(schema *apiextensionsv1.JSONSchemaProps, over apiextensionsv1.JSONSchemaProps) error {
	rules := slices.Concat(schema.XValidations, over.XValidations)
	under, err := fields(*schema)
	if err != nil {
		return err
	}
	set, err := fields(over)
	if err != nil {
		return err
	}
	delete(set, "x-kubernetes-validations")
	for name, value := range set {
		if before, found := under[name]; found && name != "description" && string(before) != string(value) {
			return fmt.Errorf("%s is %s already", name, before)
		}
		under[name] = value
	}
	text, err := json.Marshal(under)
	if err != nil {
		return err
	}
	*schema = apiextensionsv1.JSONSchemaProps{}
	if err := json.Unmarshal(text, schema); err != nil {
		return err
	}
	schema.XValidations = rules
	return nil
}

func fields(schema apiextensionsv1.JSONSchemaProps) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	set := map[string]json.RawMessage{}
	return set, json.Unmarshal(text, &set)
}

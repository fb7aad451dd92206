// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type schema = apiextensionsv1.JSONSchemaProps

func writeKind(w io.Writer, crd *apiextensionsv1.CustomResourceDefinition, examples []example) {
	names, version := crd.Spec.Names, crd.Spec.Versions[0]
	root := version.Schema.OpenAPIV3Schema
	fmt.Fprintf(w, "\n## %s\n\n`%s/%s`", names.Kind, crd.Spec.Group, version.Name)
	if len(names.ShortNames) > 0 {
		fmt.Fprintf(w, ", short name `%s`", strings.Join(names.ShortNames, "`, `"))
	}
	if len(names.Categories) > 0 {
		fmt.Fprintf(w, ", in the categories %s", strings.Join(names.Categories, " and "))
	}
	fmt.Fprintf(w, ".\n\n%s\n", paragraphs(root.Description))
	if len(examples) > 0 {
		fmt.Fprintf(w, "\n### %s: examples\n", names.Kind)
	}
	for _, e := range examples {
		fmt.Fprintf(w, "\n%s ([%s](examples/%s))\n\n```yaml\n%s```\n", e.words, e.file, e.file, e.manifest)
	}
	fmt.Fprintf(w, "\n### %s: columns of `kubectl get`\n\n| column | shows |\n|---|---|\n", names.Kind)
	for _, column := range version.AdditionalPrinterColumns {
		wide := ""
		if column.Priority > 0 {
			wide = " (with `-o wide`)"
		}
		fmt.Fprintf(w, "| %s%s | %s |\n", column.Name, wide, strings.Trim(column.Description+" `"+column.JSONPath+"`", " "))
	}
	r := reference{w: w, kind: names.Kind, seen: map[string]string{}}
	spec, hasSpec := root.Properties["spec"]
	status, hasStatus := root.Properties["status"]
	if hasSpec {
		r.write("spec", spec)
	}
	if hasStatus {
		r.write("status", status)
	}
	if !hasSpec && !hasStatus {
		own := *root.DeepCopy()
		own.Description = "" // said above
		for _, name := range []string{"apiVersion", "kind", "metadata"} {
			delete(own.Properties, name)
		}
		r.write("", own)
	}
}

// reference writes one section for each object of a schema; the path of the root is empty. Objects of one shape are described once.
type reference struct {
	w    io.Writer
	kind string
	seen map[string]string // path by shape
}

func (r reference) write(path string, s schema) {
	fmt.Fprintf(r.w, "\n### %s: %s\n", r.kind, cmp.Or(path, "fields"))
	if s.Description != "" {
		fmt.Fprintf(r.w, "\n%s\n", paragraphs(s.Description))
	}
	for _, rule := range s.XValidations {
		field := ""
		if rule.FieldPath != "" {
			field = "`" + strings.TrimPrefix(rule.FieldPath, ".") + "` "
		}
		fmt.Fprintf(r.w, "\n* %s%s.\n", field, inline(rule.Message))
	}
	fmt.Fprint(r.w, "\n| field | type | what it says |\n|---|---|---|\n")
	var below []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		field := s.Properties[name]
		place, inner := inside(strings.TrimPrefix(path+"."+name, "."), field)
		told := []string{inline(field.Description), bounds(field, slices.Contains(s.Required, name))}
		if len(inner.Properties) > 0 {
			if before, seen := r.seen[shape(inner)]; seen {
				told = append(told, "Fields: as of `"+before+"`.")
			} else {
				r.seen[shape(inner)] = place
				below = append(below, name)
				told = append(told, "Fields: below.")
			}
		}
		told = slices.DeleteFunc(told, func(s string) bool { return s == "" })
		fmt.Fprintf(r.w, "| `%s` | %s | %s |\n", name, typeOf(field), strings.Join(told, "<br>"))
	}
	for _, name := range below {
		r.write(inside(strings.TrimPrefix(path+"."+name, "."), s.Properties[name]))
	}
}

// inside goes through lists and maps to what they hold.
func inside(path string, s schema) (string, schema) {
	switch {
	case s.Items != nil && s.Items.Schema != nil:
		return inside(path+"[]", *s.Items.Schema)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return inside(path+"{}", *s.AdditionalProperties.Schema)
	}
	return path, s
}

// shape is equal for objects with equal fields, whatever is said of the object itself.
func shape(s schema) string {
	s.Description = ""
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // what was read from YAML can be written
	}
	return string(text)
}

func typeOf(s schema) string {
	switch {
	case s.XIntOrString:
		return "quantity"
	case s.Type == "array":
		return "list of " + typeOf(*s.Items.Schema)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(*s.AdditionalProperties.Schema)
	case s.Format == "date-time":
		return "time"
	}
	return s.Type
}

// bounds returns what the schema allows, in the order in which a person asks.
func bounds(s schema, required bool) string {
	var said []string
	say := func(format string, value any) { said = append(said, fmt.Sprintf(format, value)) }
	if required {
		said = append(said, "*required*")
	}
	if s.Default != nil {
		say("default `%s`", s.Default.Raw)
	}
	if len(s.Enum) > 0 {
		said = append(said, "one of "+values(s.Enum))
	}
	if s.Minimum != nil {
		say("at least %v", int64(*s.Minimum))
	}
	if s.Maximum != nil {
		say("at most %v", int64(*s.Maximum))
	}
	if s.MaxLength != nil {
		say("at most %d characters", *s.MaxLength)
	}
	if s.MaxItems != nil {
		say("at most %d items", *s.MaxItems)
	}
	for _, rule := range s.XValidations {
		if s.Type != "object" || s.AdditionalProperties != nil {
			said = append(said, inline(rule.Message))
		}
	}
	return strings.Join(said, "; ")
}

func values(enum []apiextensionsv1.JSON) string {
	var all []string
	for _, value := range enum {
		all = append(all, "`"+strings.Trim(string(value.Raw), `"`)+"`")
	}
	return strings.Join(all, ", ")
}

var escape = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`)

// paragraphs keeps the lines of a description.
func paragraphs(text string) string { return escape.Replace(text) }

// inline makes a description fit into a cell of a table, and its example stand out.
func inline(text string) string {
	text, sample, found := strings.Cut(text, "\nExample: ")
	text = strings.ReplaceAll(escape.Replace(strings.TrimSpace(text)), "\n", "<br>")
	if found {
		text += "<br>Example: `" + strings.ReplaceAll(strings.TrimSpace(sample), "|", `\|`) + "`"
	}
	return text
}

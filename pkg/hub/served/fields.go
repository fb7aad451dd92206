// SPDX-License-Identifier: Apache-2.0

package served

import (
	"encoding/json"
	"reflect"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

var marshaler = reflect.TypeFor[json.Marshaler]()

// lost returns the fields of a Go type for which the schema has no place, in
// the order of the type, and not those inside of one that is lost itself. A
// list's items are written [], a map's values {}.
func lost(t reflect.Type, served *spec.Schema, path string) []string {
	if keepsAll, _ := served.Extensions.GetBool("x-kubernetes-preserve-unknown-fields"); keepsAll {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return lost(t.Elem(), served, path)
	case reflect.Slice:
		if served.Items == nil || served.Items.Schema == nil {
			return nil
		}
		return lost(t.Elem(), served.Items.Schema, path+"[]")
	case reflect.Map:
		if served.AdditionalProperties == nil || served.AdditionalProperties.Schema == nil {
			return nil
		}
		return lost(t.Elem(), served.AdditionalProperties.Schema, path+"{}")
	case reflect.Struct:
		return lostOfStruct(t, served, path)
	}
	return nil
}

func lostOfStruct(t reflect.Type, served *spec.Schema, path string) (all []string) {
	if reflect.PointerTo(t).Implements(marshaler) { // a time or a quantity: one value
		return nil
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		field := t.Field(i).Type
		if name == "" { // inline
			all = append(all, lost(field, served, path)...)
			continue
		}
		all = append(all, lostField(field, name, served, path)...)
	}
	return all
}

func lostField(t reflect.Type, name string, served *spec.Schema, path string) []string {
	below, found := served.Properties[name]
	path = strings.TrimPrefix(path+"."+name, ".")
	switch {
	case !found:
		return []string{path}
	case path == "metadata": // the API server's own, which it keeps in any case
		return nil
	}
	return lost(t, &below, path)
}

// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

var index = regexp.MustCompile(`\[\d+\]`)

// added returns the faults that were not there before. An item of a list may
// have moved: places in lists are not compared, but how often a fault occurs.
func added(faults, before field.ErrorList) field.ErrorList {
	known := map[string]int{}
	for _, fault := range before {
		known[words(fault)]++
	}
	return slices.DeleteFunc(faults, func(fault *field.Error) bool {
		known[words(fault)]--
		return known[words(fault)] >= 0
	})
}

func words(fault *field.Error) string {
	return fault.Origin + " " + index.ReplaceAllLiteralString(fault.Field, "[]") + " " + fault.ErrorBody()
}

func without(faults field.ErrorList, rule string) field.ErrorList {
	return slices.DeleteFunc(faults, func(fault *field.Error) bool { return fault.Origin == rule })
}

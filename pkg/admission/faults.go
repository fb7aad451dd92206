// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// oneOf refuses a value that is not among the known ones.
func oneOf[T ~string](value T, path *field.Path, rule string, known ...T) field.ErrorList {
	if slices.Contains(known, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, known).WithOrigin(rule)}
}

// orNone is oneOf for a field that may be absent.
func orNone[T ~string](value T, path *field.Path, rule string, known ...T) field.ErrorList {
	if value == "" {
		return nil
	}
	return oneOf(value, path, rule, known...)
}

// when is a fault where something is wrong.
func when(wrong bool, fault *field.Error) field.ErrorList {
	if !wrong {
		return nil
	}
	return field.ErrorList{fault}
}

// each are the faults of all entries of a list.
func each[T any](list []T, path *field.Path, judge func(T, *field.Path) field.ErrorList) field.ErrorList {
	var faults field.ErrorList
	for i, entry := range list {
		faults = append(faults, judge(entry, path.Index(i))...)
	}
	return faults
}

// invalid refuses a value for reasons that Kubernetes gives.
func invalid(reasons []string, path *field.Path, value, rule string) field.ErrorList {
	var faults field.ErrorList
	for _, reason := range reasons {
		faults = append(faults, field.Invalid(path, value, reason).WithOrigin(rule))
	}
	return faults
}

// atMost refuses lists that are longer.
func atMost(length, most int, path *field.Path) field.ErrorList {
	if length <= most {
		return nil
	}
	return field.ErrorList{field.TooMany(path, length, most).WithOrigin(ruleSize)}
}

// noLonger refuses strings of more characters.
func noLonger(value string, most int, path *field.Path) field.ErrorList {
	if utf8.RuneCountInString(value) <= most {
		return nil
	}
	return field.ErrorList{field.TooLongCharacters(path, value, most).WithOrigin(ruleSize)}
}

// within refuses numbers that are not between least and most.
func within(value *int32, least, most int32, path *field.Path, rule string) field.ErrorList {
	if value == nil || *value >= least && *value <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, between(int64(least), int64(most))).WithOrigin(rule)}
}

// inOrder refuses a most below the least, of that name.
func inOrder(least, most *int32, path *field.Path, name, rule string) field.ErrorList {
	if least == nil || most == nil || *least <= *most {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *most,
		fmt.Sprintf("must be greater than or equal to `%s`, which is %d", name, *least)).WithOrigin(rule)}
}

func between(least, most int64) string {
	if most == math.MaxInt32 {
		return fmt.Sprintf("must be greater than or equal to %d", least)
	}
	return fmt.Sprintf("must be from %d to %d", least, most)
}

// unread warns of a field that is set and has no effect.
func unread(set bool, path *field.Path, why string) []string {
	if !set {
		return nil
	}
	return []string{noEffect(path, why)}
}

func noEffect(path *field.Path, why string) string {
	return fmt.Sprintf("%s: has no effect %s: leave it out", path, why)
}

// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
)

// withFractions returns written, which is sent as our types write it, with those
// numbers that are no integers as they were sent. To the types 0.1 is as good a
// quantity as "100m", and people write it so; the schema of a quantity has
// integers and text. So a patch from here makes text of them.
func withFractions(written []byte, sent any) ([]byte, error) {
	if !hasFractions(sent) {
		return written, nil
	}
	var to any
	if err := json.Unmarshal(written, &to); err != nil {
		return nil, err
	}
	return json.Marshal(putFractions(to, sent))
}

func hasFractions(sent any) bool {
	switch sent := sent.(type) {
	case float64:
		return sent != math.Trunc(sent)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(sent)), hasFractions)
	case []any:
		return slices.ContainsFunc(sent, hasFractions)
	}
	return false
}

func putFractions(to, from any) any {
	switch from := from.(type) {
	case float64:
		if _, text := to.(string); text && from != math.Trunc(from) {
			return from
		}
	case map[string]any:
		fields, _ := to.(map[string]any)
		for name := range fields {
			fields[name] = putFractions(fields[name], from[name])
		}
	case []any:
		items, _ := to.([]any)
		for i := range min(len(items), len(from)) {
			items[i] = putFractions(items[i], from[i])
		}
	}
	return to
}

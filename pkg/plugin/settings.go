// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// WithSettings returns the object with fields of its spec set, FIELD=VALUE each, as admission would let it be stored.
func WithSettings(object *v1alpha1.FederatedHPA, settings []string) (*v1alpha1.FederatedHPA, error) {
	changed := object.DeepCopy()
	if err := setAll(object.Spec, settings, &changed.Spec); err != nil {
		return nil, err
	}
	admission.MutateFederatedHPA(changed)
	if faults, _ := admission.ValidateFederatedHPA(changed, object, admission.Neighbours{}); len(faults) > 0 {
		return nil, refused(faults)
	}
	return changed, nil
}

// WithSizeSettings is [WithSettings] of a MultidimPodAutoscaler.
func WithSizeSettings(object *v1alpha1.MultidimPodAutoscaler, settings []string) (*v1alpha1.MultidimPodAutoscaler, error) {
	changed := object.DeepCopy()
	if err := setAll(object.Spec, settings, &changed.Spec); err != nil {
		return nil, err
	}
	admission.MutateMultidimPodAutoscaler(changed)
	v1alpha1.DefaultMultidimPodAutoscaler(changed)
	if faults, _ := admission.ValidateMultidimPodAutoscaler(changed, object, admission.Neighbours{}); len(faults) > 0 {
		return nil, refused(faults)
	}
	return changed, nil
}

func refused(faults field.ErrorList) error {
	return fmt.Errorf("--set: the spec would be refused: %w", faults.ToAggregate())
}

// setAll has a spec be another one with fields set.
func setAll[T any](spec T, settings []string, changed *T) error {
	tree, err := treeOf(spec)
	if err != nil {
		return err
	}
	for _, setting := range settings {
		path, value, found := strings.Cut(setting, "=")
		if !found {
			return fmt.Errorf("--set %s: write FIELD=VALUE, such as spec.maxReplicas=20", setting)
		}
		if err := set(tree, path, value); err != nil {
			return fmt.Errorf("--set %s: %w", setting, err)
		}
	}
	encoded, err := json.Marshal(tree["spec"])
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.DisallowUnknownFields()
	var read T
	if err := decoder.Decode(&read); err != nil {
		return fmt.Errorf("--set: the spec could not be read then: %w", err)
	}
	*changed = read
	return nil
}

func treeOf(spec any) (map[string]any, error) {
	encoded, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	tree := map[string]any{}
	return tree, decoder.Decode(&tree)
}

// set sets one field. Objects on the way are made; elements of lists are not.
func set(tree map[string]any, path, value string) error {
	steps, err := stepsOf(path)
	if err != nil {
		return err
	}
	var parsed any
	if err := yaml.Unmarshal([]byte(value), &parsed); err != nil {
		return fmt.Errorf("the value is no YAML: %w", err)
	}
	if steps[0] != "spec" || len(steps) < 2 {
		return errors.New("only fields of the spec can be set: begin with spec")
	}
	var at any = tree
	for i, step := range steps {
		end := i == len(steps)-1
		switch in := at.(type) {
		case map[string]any:
			name, isName := step.(string)
			if !isName {
				return fmt.Errorf("%s is no list", written(steps[:i]))
			}
			if end {
				in[name] = parsed
				return nil
			}
			if in[name] == nil {
				in[name] = map[string]any{}
			}
			at = in[name]
		case []any:
			index, isIndex := step.(int)
			if !isIndex || index >= len(in) {
				return fmt.Errorf("%s is a list of %d: give an index, such as %s[0]", written(steps[:i]), len(in), written(steps[:i]))
			}
			if end {
				in[index] = parsed
				return nil
			}
			at = in[index]
		default:
			return fmt.Errorf("%s has no fields", written(steps[:i]))
		}
	}
	return nil
}

// stepsOf reads a path: names, and indices in brackets.
func stepsOf(path string) (steps []any, err error) {
	for _, part := range strings.Split(path, ".") {
		name, rest, _ := strings.Cut(part, "[")
		if name == "" {
			return nil, fmt.Errorf("the field %q has a part without a name", path)
		}
		steps = append(steps, name)
		for rest != "" {
			number, after, closed := strings.Cut(rest, "]")
			index, err := strconv.Atoi(number)
			if err != nil || !closed || index < 0 || after != "" && after[0] != '[' {
				return nil, fmt.Errorf("the field %q has an index that is none: write it as [0]", path)
			}
			steps = append(steps, index)
			rest = strings.TrimPrefix(after, "[")
		}
	}
	return steps, nil
}

func written(steps []any) string {
	b := &strings.Builder{}
	for i, step := range steps {
		if index, isIndex := step.(int); isIndex {
			fmt.Fprintf(b, "[%d]", index)
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		fmt.Fprint(b, step)
	}
	return b.String()
}

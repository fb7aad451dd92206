// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"encoding/json"
	"errors"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/guard"
)

// storedSpec is a spec with what its JSON does not tell: 0.3 and 300m are written alike, and are two numbers of floating point.
type storedSpec struct {
	Spec *v1alpha1.FederatedHPASpec `json:"spec"`
	// Up and Down are the tolerances.
	Up   *decimal `json:"up,omitempty"`
	Down *decimal `json:"down,omitempty"`
}

// decimal is Value times ten to the power of Exponent.
type decimal struct {
	Value    int64 `json:"v"`
	Exponent int32 `json:"e"`
}

// mostExponent is far beyond what a tolerance needs; what computes with a quantity takes the longer the larger it is.
const mostExponent = 30

func encodeSpec(spec *v1alpha1.FederatedHPASpec) (string, error) {
	s := storedSpec{Spec: spec}
	if b := spec.Behavior; b != nil {
		s.Up, s.Down = exactly(b.ScaleUp), exactly(b.ScaleDown)
	}
	text, err := json.Marshal(&s)
	return string(text), err
}

func exactly(rules *autoscalingv2.HPAScalingRules) *decimal {
	if rules == nil || rules.Tolerance == nil {
		return nil
	}
	q := rules.Tolerance.DeepCopy()
	d := q.AsDec()
	value, fits := d.Unscaled()
	if exponent := -int32(d.Scale()); fits && max(exponent, -exponent) <= mostExponent {
		return &decimal{value, exponent}
	}
	return nil // then it is as its JSON says
}

func decodeSpec(text string) (*v1alpha1.FederatedHPASpec, error) {
	s := &storedSpec{}
	if err := guard.JSON([]byte(text), s); err != nil {
		return nil, fmt.Errorf("decoding a spec: %w", err)
	}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return nil, fmt.Errorf("decoding a spec: %w", err)
	}
	if s.Spec == nil {
		return nil, errors.New("decoding a spec: there is none")
	}
	if b := s.Spec.Behavior; b != nil {
		s.Up.restore(b.ScaleUp)
		s.Down.restore(b.ScaleDown)
	}
	return s.Spec, nil
}

func (d *decimal) restore(rules *autoscalingv2.HPAScalingRules) {
	if d != nil && rules != nil && rules.Tolerance != nil && max(d.Exponent, -d.Exponent) <= mostExponent {
		rules.Tolerance = resource.NewScaledQuantity(d.Value, resource.Scale(d.Exponent))
	}
}

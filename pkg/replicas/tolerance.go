// SPDX-License-Identifier: Apache-2.0

package replicas

// tolerance is how far usage may be from its target, as a part of it, before replicas change.
type tolerance struct{ down, up float64 }

func (q *Question) tolerance() tolerance {
	t := tolerance{down: q.Options.Tolerance, up: q.Options.Tolerance}
	b := q.Spec.Behavior
	if b == nil {
		return t
	}
	if b.ScaleDown != nil && b.ScaleDown.Tolerance != nil {
		t.down = b.ScaleDown.Tolerance.AsApproximateFloat64()
	}
	if b.ScaleUp != nil && b.ScaleUp.Tolerance != nil {
		t.up = b.ScaleUp.Tolerance.AsApproximateFloat64()
	}
	return t
}

// within reports whether usage/target is near enough to 1; both ends are. NaN never is.
func (t tolerance) within(ratio float64) bool {
	return 1.0-t.down <= ratio && ratio <= 1.0+t.up
}

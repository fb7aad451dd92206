// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"errors"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/labels"
)

// checkSelectors returns what is wrong with how the workload's Pods are found, if something is.
func (v *view) checkSelectors(d *Decision) error {
	if v.unselected() {
		d.warn(ReasonSelectorRequired, "selector is required")
		v.inactive(d, ReasonInvalidSelector, "the HPA target's scale is missing a selector")
		return errors.New("selector is required")
	}
	if err := v.parseSelectors(); err != nil {
		return v.refuseSelector(d, ReasonInvalidSelector, err)
	}
	for _, m := range v.members {
		if len(m.Autoscalers) > 1 {
			err := v.in(m.Name, fmt.Errorf("pods by selector %s are controlled by more than one HPA (e.g. %v)", v.selectorOf(m), m.Autoscalers))
			return v.refuseSelector(d, ReasonAmbiguousSelector, err)
		}
	}
	return nil
}

// unselected reports whether in some cluster nothing tells which Pods are the workload's.
func (v *view) unselected() bool {
	lacking := len(v.members) == 0
	for _, m := range v.members {
		lacking = lacking || m.Selector == ""
	}
	return lacking && v.Scale.Selector == ""
}

func (v *view) selectorOf(m census) string {
	if m.Selector != "" {
		return m.Selector
	}
	return v.Scale.Selector
}

func (v *view) parseSelectors() error {
	if err := parse(v.Scale.Selector); err != nil {
		return err
	}
	for _, m := range v.members {
		if m.Selector == "" || m.Selector == v.Scale.Selector {
			continue
		}
		if err := parse(m.Selector); err != nil {
			return v.in(m.Name, err)
		}
	}
	return nil
}

func parse(selector string) error {
	if _, err := labels.Parse(selector); err != nil {
		return fmt.Errorf("couldn't convert selector into a corresponding internal selector object: %w", err)
	}
	return nil
}

func (v *view) refuseSelector(d *Decision, reason string, err error) error {
	d.warn(reason, err.Error())
	v.inactive(d, reason, err.Error())
	return err
}

func (v *view) inactive(d *Decision, reason, message string) {
	d.set(v.Now, autoscalingv2.ScalingActive, boolStatus(false), reason, message)
}

// SPDX-License-Identifier: Apache-2.0

package replicas

// average is the mean of what Pods use, without its fraction. It is of all samples, also of Pods that no list holds.
type average struct {
	target int64 // milli
	groups groups
	used   sum
}

// average returns the replicas for a target mean, and the mean, both in milli.
func (v *view) average(target int64, n need, m *Metric) (measured, error) {
	a := average{target: target}
	var err error
	if a.groups, err = v.group(n, m, nil); err != nil {
		return unusable(a.groups, err)
	}
	a.used = a.groups.used
	a.used.addSum(a.groups.strangersUsed)
	b := balance{a.groups, v.tolerance(), v.told(), target, func(f filled) (int64, error) { return a.mean(f), nil }}
	w, err := b.weigh()
	got := measured{replicas: w.replicas, value: a.mean(filled{}), groups: a.groups}
	got.working = v.worked(RuleAverage, target, w, a.groups.told(nil))
	return got, err
}

// mean takes a busy Pod to use the target.
func (a *average) mean(f filled) int64 {
	used := a.used
	if f.busy {
		used.addTimes(a.target, a.groups.missing)
	}
	return used.over(a.groups.entries(f))
}

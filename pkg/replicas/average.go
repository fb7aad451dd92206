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
	a.groups, err = v.group(n, m, func(s seen) {
		if s.class == counted {
			a.used.add(s.sample.Value)
		}
	})
	if err != nil {
		return measured{groups: a.groups}, err
	}
	a.used.addSum(a.groups.strangersUsed)
	replicas, err := balance{a.groups, v.tolerance(), v.told(), a.ratio}.replicas()
	return measured{replicas: replicas, value: a.mean(filled{}), groups: a.groups}, err
}

func (a *average) ratio(f filled) (float64, error) {
	return float64(a.mean(f)) / float64(a.target), nil
}

// mean takes a busy Pod to use the target.
func (a *average) mean(f filled) int64 {
	used := a.used
	if f.busy {
		used.addTimes(a.target, a.groups.missing)
	}
	return used.over(a.groups.entries(f))
}

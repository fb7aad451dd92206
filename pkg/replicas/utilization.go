// SPDX-License-Identifier: Apache-2.0

package replicas

import "errors"

// utilization is what Pods use in percent of what they request, without its fraction.
type utilization struct {
	target int32 // percent
	groups groups
	fault  error // the first Pod without a request, whatever its class
}

// utilize returns the replicas for a target utilization, the utilization in percent, and the mean use in milli.
func (v *view) utilize(target int32, n need, m *Metric) (measured, error) {
	u := utilization{target: target}
	var err error
	if u.groups, err = v.group(n, m, func(s seen) { u.visit(v, n, s) }); err != nil {
		return unusable(u.groups, err)
	}
	if u.fault != nil {
		return unusable(u.groups, u.fault)
	}
	b := balance{u.groups, v.tolerance(), v.told(), int64(target), u.value}
	w, err := b.weigh()
	if err != nil {
		return unusable(u.groups, err)
	}
	return measured{
		replicas: w.replicas, percent: int32(w.value), value: u.groups.used.over(u.groups.counted), groups: u.groups,
		working: v.worked(RuleUtilization, int64(target), w, u.groups.told(nil)),
	}, nil
}

func (u *utilization) visit(v *view, n need, s seen) {
	request, err := s.pod.Requests.of(n, s.pod.Name)
	if err != nil && u.fault == nil {
		u.fault = v.in(s.cluster, err)
	}
	s.into.requests[s.class].add(request)
	if s.class == missing {
		s.into.busy.add(percentOf(request, u.busy(s.abandoned)))
		s.into.addMissing(Requested{Request: request, Abandoned: s.abandoned, Pods: 1})
	}
}

// busy is how much of its request a Pod is taken to use whose use is not known; of a cluster that nobody waits for, what it should
// use, so that its replicas neither block the others nor are taken from them.
func (u *utilization) busy(abandoned bool) int32 {
	if abandoned {
		return u.target
	}
	return max(100, u.target)
}

// value returns the utilization in percent.
func (u *utilization) value(f filled) (int64, error) {
	requested := u.requested(f)
	if requested.isZero() {
		return 0, errors.New("no metrics returned matched known pods")
	}
	used := u.groups.used
	if f.busy {
		used.addSum(u.groups.busy)
	}
	return int64(used.times100Over(requested)), nil
}

func (u *utilization) requested(f filled) sum {
	requested := u.groups.requests[counted]
	if f.busy || f.idle {
		requested.addSum(u.groups.requests[missing])
	}
	if f.unready {
		requested.addSum(u.groups.requests[unready])
	}
	return requested
}

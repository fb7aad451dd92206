// SPDX-License-Identifier: Apache-2.0

package replicas

import "errors"

// utilization is what Pods use in percent of what they request, without its fraction.
type utilization struct {
	target   int32 // percent
	groups   groups
	used     sum            // by counted Pods
	requests map[class]*sum // by class
	busy     sum            // what missing Pods would use if they were busy
	fault    error          // the first Pod without a request, whatever its class
}

// utilize returns the replicas for a target utilization, the utilization in percent, and the mean use in milli.
func (v *view) utilize(target int32, n need, m *Metric) (measured, error) {
	u := utilization{target: target, requests: map[class]*sum{ignored: {}, unready: {}, missing: {}, counted: {}}}
	var err error
	if u.groups, err = v.group(n, m, func(s seen) { u.visit(v, n, s) }); err != nil {
		return measured{}, err
	}
	if u.fault != nil {
		return measured{groups: u.groups}, u.fault
	}
	replicas, err := balance{u.groups, v.tolerance(), v.told(), u.ratio}.replicas()
	if err != nil {
		return measured{groups: u.groups}, err
	}
	return measured{replicas: replicas, percent: u.percent(filled{}), value: u.used.over(u.groups.counted), groups: u.groups}, nil
}

func (u *utilization) visit(v *view, n need, s seen) {
	request, err := s.pod.Requests.of(n, s.pod.Name)
	if err != nil && u.fault == nil {
		u.fault = v.in(s.cluster, err)
	}
	u.requests[s.class].add(request)
	switch s.class {
	case counted:
		u.used.add(s.sample.Value)
	case missing:
		busy := max(100, u.target)
		if s.abandoned { // its replicas are neither to block the others, nor to be taken from them
			busy = u.target
		}
		u.busy.add(percentOf(request, busy))
	}
}

func (u *utilization) ratio(f filled) (float64, error) {
	if u.requested(f).isZero() {
		return 0, errors.New("no metrics returned matched known pods")
	}
	return float64(u.percent(f)) / float64(u.target), nil
}

func (u *utilization) percent(f filled) int32 {
	used := u.used
	if f.busy {
		used.addSum(u.busy)
	}
	return used.times100Over(u.requested(f))
}

func (u *utilization) requested(f filled) sum {
	requested := *u.requests[counted]
	if f.busy || f.idle {
		requested.addSum(*u.requests[missing])
	}
	if f.unready {
		requested.addSum(*u.requests[unready])
	}
	return requested
}

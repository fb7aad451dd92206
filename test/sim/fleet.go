// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Options of a Fleet.
type Options struct {
	// Members is how many there are: sim-001 and so on.
	Members int
	// Resolution is the time between two measurements of a member; 0 means 15 s.
	// Each member has a moment of its own in it.
	Resolution time.Duration
}

const defaultResolution = 15 * time.Second

// Fleet is the members of one process.
type Fleet struct {
	members []*Member
}

// New returns a fleet that answers until it is closed. Its members have two nodes and no Pods.
func New(ctx context.Context, o Options) (*Fleet, error) {
	if o.Resolution == 0 {
		o.Resolution = defaultResolution
	}
	f := &Fleet{}
	for i := range o.Members {
		offset := o.Resolution * time.Duration(i) / time.Duration(o.Members)
		m, err := newMember(ctx, fmt.Sprintf("sim-%03d", i+1), measuring{o.Resolution, offset})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("starting a simulated member: %w", err), f.Close())
		}
		f.members = append(f.members, m)
	}
	return f, nil
}

// Members are in the order of their names. The slice is shared: do not write to it.
func (f *Fleet) Members() []*Member { return f.members }

// Close ends all members. Twice is fine.
func (f *Fleet) Close() error {
	var errs []error
	for _, m := range f.members {
		errs = append(errs, m.close())
	}
	return errors.Join(errs...)
}

// Requests returns those to all members so far.
func (f *Fleet) Requests() Tally {
	all := Tally{}
	for _, m := range f.members {
		for request, n := range m.Requests() {
			all[request] += n
		}
	}
	return all
}

// SPDX-License-Identifier: Apache-2.0

package shardlease

import (
	"context"
	"errors"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Own keeps an election from releasing what is another's by now. The library releases a Lease if it held it by what it saw last, and
// writes to the version that it reads just before: who stood still for longer than its Lease would release that of the next holder.
func Own(lease resourcelock.Interface) resourcelock.Interface { return &own{Interface: lease} }

// own is used by one election, which does one thing at a time.
type own struct {
	resourcelock.Interface
	read string // who held it when it was last read
}

var errTaken = errors.New("not released: another has taken it")

func (o *own) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := o.Interface.Get(ctx)
	if err == nil {
		o.read = record.HolderIdentity
	}
	return record, raw, err
}

func (o *own) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" && o.read != o.Identity() {
		return errTaken
	}
	return o.Interface.Update(ctx, record)
}

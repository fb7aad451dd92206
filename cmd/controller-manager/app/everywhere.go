// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// runner has something be run by some of the replicas.
type runner func(func(context.Context) error) manager.Runnable

func byAll(run func(context.Context) error) manager.Runnable    { return everywhere(run) }
func byLeader(run func(context.Context) error) manager.Runnable { return leading(run) }

// everywhere is run by every replica, the leader and those that wait.
type everywhere func(context.Context) error

var _ manager.LeaderElectionRunnable = everywhere(nil)

func (f everywhere) Start(ctx context.Context) error { return f(ctx) }

func (f everywhere) NeedLeaderElection() bool { return false }

// leading is run by the leader only.
type leading func(context.Context) error

var _ manager.LeaderElectionRunnable = leading(nil)

func (f leading) Start(ctx context.Context) error { return f(ctx) }

func (f leading) NeedLeaderElection() bool { return true }

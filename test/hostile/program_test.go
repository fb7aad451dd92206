// SPDX-License-Identifier: Apache-2.0

package hostile_test

import (
	"context"
	"fmt"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/stage"
)

// program is one of ours, held to what its Deployment gives it.
type program struct {
	*stage.Program

	name  string
	limit int64
}

// usage is what a program uses at a time.
type usage struct {
	goroutines, sockets float64
	cpu                 time.Duration
	resident, peak      int64
}

func (p *program) usage(ctx context.Context) (u usage, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience) // it is no user
	defer cancel()
	if u.goroutines, err = p.Metric(ctx, "go_goroutines"); err != nil {
		return u, fmt.Errorf("%s: %w", p.name, err)
	}
	_, sockets, err := p.PID.Descriptors()
	if err != nil {
		return u, err
	}
	u.sockets = float64(sockets)
	if u.cpu, err = p.PID.CPU(); err != nil {
		return u, err
	}
	memory, err := p.PID.Memory()
	u.resident, u.peak = memory.Resident, memory.Peak
	return u, err
}

// calm is what is wrong with a program after an attack that used so much before it.
func (u usage) calm(before usage) error {
	const more, some = 1.5, 100 // caches of what was asked stay for some minutes
	switch {
	case u.goroutines > before.goroutines*more+some:
		return fmt.Errorf("%v goroutines, after %v", u.goroutines, before.goroutines)
	case u.sockets > before.sockets*more+some:
		return fmt.Errorf("%v connections, after %v", u.sockets, before.sockets)
	}
	return nil
}

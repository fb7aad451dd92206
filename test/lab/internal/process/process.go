// SPDX-License-Identifier: Apache-2.0

// Package process starts programs that outlive their starter, writes them down
// in a table, and ends exactly those: by process id and time of birth, so that
// a stranger who was given an old id is never touched.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Spec is what to start.
type Spec struct {
	Name string   // unique in its table
	Path string   // of the program
	Args []string // without the program's name
	Env  []string // added to the starter's own; NAME=value
	Log  string   // file that its output is appended to
}

// Record is a program of the table and its process, if it has one.
type Record struct {
	Spec
	PID   int    // 0: not started, or ended on purpose
	Birth string // when PID was born; compares for equality only
}

// State says what became of a record's process.
type State string

const (
	// Running processes answer.
	Running State = "running"
	// Frozen processes are stopped by SIGSTOP: alive, and silent.
	Frozen State = "frozen"
	// Stopped processes were ended on purpose.
	Stopped State = "stopped"
	// Died processes ended by themselves, or by a stranger's hand.
	Died State = "died"
)

// State returns the present state of the process.
func (r Record) State() State {
	if r.PID == 0 {
		return Stopped
	}
	birth, state, err := identify(r.PID)
	switch {
	case err != nil, birth != r.Birth, state == 'Z', state == 'X':
		return Died
	case state == 'T':
		return Frozen
	default:
		return Running
	}
}

func (r Record) alive() bool {
	state := r.State()
	return state == Running || state == Frozen
}

// Signal sends sig to the process. One that has ended is an error that names
// the program.
func (r Record) Signal(sig syscall.Signal) error {
	if !r.alive() {
		return fmt.Errorf("signalling %s: it is not running; see %s", r.Name, r.Log)
	}
	if err := syscall.Kill(r.PID, sig); err != nil {
		return fmt.Errorf("signalling %s (process %d): %w", r.Name, r.PID, err)
	}
	return nil
}

// end asks the process to go, waits for at most grace, then makes it go.
// A frozen process is woken up, or it would never hear the request.
func (r Record) end(grace time.Duration) error {
	if !r.alive() {
		return nil
	}
	if grace > 0 {
		_ = syscall.Kill(r.PID, syscall.SIGTERM)
		_ = syscall.Kill(r.PID, syscall.SIGCONT)
		if r.awaitEnd(grace) {
			return nil
		}
	}
	if err := syscall.Kill(r.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("ending %s (process %d): %w", r.Name, r.PID, err)
	}
	if !r.awaitEnd(killTimeout) {
		return fmt.Errorf("ending %s: process %d is still there %v after SIGKILL", r.Name, r.PID, killTimeout)
	}
	return nil
}

const (
	killTimeout  = 10 * time.Second
	pollInterval = 20 * time.Millisecond
)

func (r Record) awaitEnd(timeout time.Duration) bool {
	expired := time.After(timeout)
	for r.alive() {
		select {
		case <-expired:
			return false
		case <-time.After(pollInterval):
		}
	}
	return true
}

// start runs the program in a session of its own, where no Ctrl-C reaches it.
func start(spec Spec) (Record, error) {
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return Record{}, fmt.Errorf("opening the log of %s: %w", spec.Name, err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Env = append(os.Environ(), spec.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return Record{}, fmt.Errorf("starting %s: %w", spec.Name, err)
	}
	birth, _, err := identify(cmd.Process.Pid)
	if err != nil {
		_ = cmd.Process.Kill()
	}
	go func() { _ = cmd.Wait() }() // so that it leaves no zombie; its log says how it ended
	if err != nil {
		return Record{}, fmt.Errorf("starting %s: identifying its process: %w", spec.Name, err)
	}
	return Record{Spec: spec, PID: cmd.Process.Pid, Birth: birth}, nil
}

// Await polls ready until it returns nil. It fails when ctx ends, and at once
// when the process dies; either way the error shows the end of the log.
func (r Record) Await(ctx context.Context, ready func(context.Context) error) error {
	for {
		if !r.alive() {
			return fmt.Errorf("%s died; the last lines of %s:\n%s", r.Name, r.Log, Tail(r.Log))
		}
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w: %w; the last lines of %s:\n%s", r.Name, context.Cause(ctx), err, r.Log, Tail(r.Log))
		case <-time.After(5 * pollInterval):
		}
	}
}

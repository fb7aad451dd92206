// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"time"

	"github.com/fleetscale/fleetscale/test/lab/internal/process"
)

const (
	startTimeout = 2 * time.Minute
	stopGrace    = 10 * time.Second
	// freezePatience is far more than the kernel ever needs.
	freezePatience = 5 * time.Second
)

// Program is a program to run as part of the lab.
type Program struct {
	// Name is unique in the lab. The log is logs/Name.log in the lab's folder.
	Name string
	// Path is the program's file.
	Path string
	// Args are its arguments, without the program's name.
	Args []string
	// Env is added to our own environment, as NAME=value.
	Env []string
	// Ready is polled after the start until it returns nil. Without it a
	// program counts as ready once it was started.
	Ready func(context.Context) error
}

// Process is a program that runs, or ran, as part of the lab. It ends with the
// lab at the latest.
type Process struct {
	// Name is unique in the lab.
	Name string
	// Log is the file that its output is appended to, over all its starts.
	Log string

	table process.Table
	ready func(context.Context) error
}

// Run starts a program and waits until it is ready, for two minutes at most.
// If it dies or does not get ready, it is ended, and the error shows the end of
// its log.
func (l *Lab) Run(ctx context.Context, p Program) (*Process, error) {
	spec := process.Spec{Name: p.Name, Path: p.Path, Args: p.Args, Env: p.Env, Log: l.logPath(p.Name)}
	record, err := l.table.Start(spec)
	if err != nil {
		return nil, err
	}
	started := l.process(p.Name, p.Ready)
	if err := started.await(ctx, record); err != nil {
		return nil, errors.Join(err, started.Kill())
	}
	return started, nil
}

// Processes returns all programs of the lab in order of name.
func (l *Lab) Processes() ([]*Process, error) {
	records, err := l.table.Records()
	if err != nil {
		return nil, fmt.Errorf("listing the lab's processes: %w", err)
	}
	var all []*Process
	for _, record := range records {
		all = append(all, l.process(record.Name, nil))
	}
	return all, nil
}

func (l *Lab) process(name string, ready func(context.Context) error) *Process {
	return &Process{Name: name, Log: l.logPath(name), table: l.table, ready: ready}
}

// State returns "running", "frozen", "stopped" or "died", and the process id,
// which is 0 for one that was stopped.
func (p *Process) State() (state string, pid int, err error) {
	record, err := p.table.Record(p.Name)
	if err != nil {
		return "", 0, err
	}
	return string(record.State()), record.PID, nil
}

// Stop ends the program as Kubernetes does: SIGTERM, and SIGKILL if it is
// still there after ten seconds.
func (p *Process) Stop() error { return p.table.End(p.Name, stopGrace) }

// Kill ends the program at once, by SIGKILL.
func (p *Process) Kill() error { return p.table.End(p.Name, 0) }

// Freeze makes the program stand still, with its connections open, until Thaw.
func (p *Process) Freeze() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	// The kernel stops a program's threads in its own time.
	begin, tick := time.Now(), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		state, _, err := p.State()
		if err != nil || state == string(process.Frozen) {
			return err
		}
		if time.Since(begin) > freezePatience {
			return fmt.Errorf("freezing %s: it is still %s after %v", p.Name, state, freezePatience)
		}
		<-tick.C
	}
}

// Thaw lets a frozen program go on. One that runs is left as it is.
func (p *Process) Thaw() error { return p.signal(syscall.SIGCONT) }

func (p *Process) signal(sig syscall.Signal) error {
	record, err := p.table.Record(p.Name)
	if err != nil {
		return err
	}
	return record.Signal(sig)
}

// Start starts the program again, with the arguments it had, and waits until
// it is ready.
func (p *Process) Start(ctx context.Context) error {
	record, err := p.table.Record(p.Name)
	if err != nil {
		return err
	}
	if record, err = p.table.Start(record.Spec); err != nil {
		return err
	}
	return p.await(ctx, record)
}

func (p *Process) await(ctx context.Context, record process.Record) error {
	if p.ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready after %v", startTimeout))
	defer cancel()
	return record.Await(ctx, p.ready)
}

// HTTPReady returns a check for [Program.Ready]: url answers 200. The server's
// certificate is not verified.
func HTTPReady(url string) func(context.Context) error {
	client := &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		},
	}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		if err := response.Body.Close(); err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			return errors.New(url + " answered " + response.Status)
		}
		return nil
	}
}

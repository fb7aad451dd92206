// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// owner binds a lab to the life of this process. A small program, keeper,
// reads a pipe whose other end only this process has: when the kernel closes
// it, keeper ends the lab.
type owner struct {
	keeper *exec.Cmd
	pipe   io.WriteCloser
}

// owners holds every owner until its release: the garbage collector closes a
// pipe that nothing refers to, which would end a lab whose handle is unused.
var owners sync.Map // of *owner to nothing

// own starts keeper for the lab in dir, before anything that it has to end.
func own(dir, program string) (*owner, error) {
	log, err := os.Create(filepath.Join(dir, "logs", "keeper.log"))
	if err != nil {
		return nil, fmt.Errorf("opening keeper's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(program, dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a Ctrl-C meant for us must not end it
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting keeper: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting keeper: %w", err)
	}
	o := &owner{keeper: cmd, pipe: pipe}
	owners.Store(o, nil)
	return o, nil
}

// release ends keeper, and leaves the lab as it is.
func (o *owner) release() error {
	defer owners.Delete(o)
	if _, err := o.pipe.Write([]byte{0}); err != nil {
		return fmt.Errorf("letting go of the lab: %w", err)
	}
	if err := o.keeper.Wait(); err != nil {
		return fmt.Errorf("letting go of the lab: %w", err)
	}
	return nil
}

// Release lets go of the lab: it stays when this process ends. For a lab that
// another process started, or that was released, it does nothing.
func (l *Lab) Release() error {
	l.mu.Lock()
	owner := l.owner
	l.owner = nil
	l.mu.Unlock()
	if owner == nil {
		return nil
	}
	return owner.release()
}

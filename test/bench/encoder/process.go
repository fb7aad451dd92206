// SPDX-License-Identifier: Apache-2.0

package encoder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Argument has a program's main call Serve.
const Argument = "serve-encoder"

// Process is another process that does orders.
type Process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *json.Decoder
}

// Start runs this very program with Argument. It ends with ctx, if not before.
func Start(ctx context.Context) (*Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, Argument)
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, fmt.Errorf("preparing the encoder: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the encoder: %w", err)
	}
	return &Process{cmd, in, json.NewDecoder(out)}, nil
}

// Do has an order done.
func (p *Process) Do(o Order) (Cost, error) {
	var c Cost
	err := json.NewEncoder(p.in).Encode(o)
	if err == nil {
		err = p.answers.Decode(&c)
	}
	if err == nil && c.Error != "" {
		err = errors.New(c.Error)
	}
	if err != nil {
		return c, fmt.Errorf("having a list encoded: %w", err)
	}
	return c, nil
}

// Stop ends the process.
func (p *Process) Stop() error {
	_ = p.in.Close() // which ends it
	return p.cmd.Wait()
}

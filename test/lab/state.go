// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fleetscale/fleetscale/test/lab/internal/filelock"
)

// state is what a process that did not start the lab has to know of it. What
// runs is not here but in the table of processes.
type state struct {
	Programs         string // folder
	EtcdURL          string
	MetricResolution time.Duration
	Clusters         []Cluster // the hub first
	Karmada          *karmada  `json:",omitempty"`
}

func statePath(dir string) string { return filepath.Join(dir, "lab.json") }

func readState(dir string) (state, error) {
	var s state
	data, err := os.ReadFile(statePath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("the lab in %s is still starting, or its start was cut off; \"lab down\" ends it", dir)
	}
	if err != nil {
		return s, fmt.Errorf("reading the lab's state: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("reading the lab's state from %s: %w", statePath(dir), err)
	}
	return s, nil
}

// write replaces the file in one step.
func (s state) write(dir string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the lab's state: %w", err)
	}
	next := statePath(dir) + ".next"
	if err := os.WriteFile(next, data, 0o644); err != nil {
		return fmt.Errorf("writing the lab's state: %w", err)
	}
	return os.Rename(next, statePath(dir))
}

// changeState lets one process at a time change the file.
func changeState(dir string, change func(*state) error) error {
	unlock, err := filelock.Lock(filepath.Join(dir, "lab.lock"))
	if err != nil {
		return fmt.Errorf("changing the lab's state: %w", err)
	}
	defer unlock()
	s, err := readState(dir)
	if err != nil {
		return err
	}
	if err := change(&s); err != nil {
		return err
	}
	return s.write(dir)
}

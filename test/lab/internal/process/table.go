// SPDX-License-Identifier: Apache-2.0

package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fleetscale/fleetscale/test/lab/internal/filelock"
)

// ErrNoTable says that the folder has no table: nothing was ever started
// there, or all of it was ended.
var ErrNoTable = errors.New("nothing runs here")

// Table is the list of programs started for one folder. It is a file, so any
// process may end what another one started. Its methods may be called from
// many goroutines and processes at once.
type Table struct {
	dir string
}

// Open returns the table of dir, whether it exists or not.
func Open(dir string) Table {
	return Table{dir: dir}
}

// Path is the file. It exists from Create to EndAll.
func (t Table) Path() string { return filepath.Join(t.dir, "processes.json") }

// Create makes an empty table, or refuses if one is there.
func (t Table) Create() error {
	unlock, err := t.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := t.read(); !errors.Is(err, ErrNoTable) {
		return errors.Join(fmt.Errorf("%s exists", t.Path()), err)
	}
	return t.write(nil)
}

// Records returns what the table holds, in order of name.
func (t Table) Records() ([]Record, error) {
	records, err := t.read()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(records, func(a, b Record) int { return strings.Compare(a.Name, b.Name) })
	return records, nil
}

// Record returns the program called name.
func (t Table) Record(name string) (Record, error) {
	records, err := t.read()
	if err != nil {
		return Record{}, err
	}
	if i := index(records, name); i >= 0 {
		return records[i], nil
	}
	return Record{}, fmt.Errorf("no program is called %q here", name)
}

// Start starts spec and writes it down, in the place of an ended one of that
// name. A living one of that name is an error.
func (t Table) Start(spec Spec) (Record, error) {
	unlock, err := t.lock()
	if err != nil {
		return Record{}, err
	}
	defer unlock()
	records, err := t.read()
	if err != nil {
		return Record{}, fmt.Errorf("starting %s: %w", spec.Name, err)
	}
	i := index(records, spec.Name)
	if i >= 0 && records[i].alive() {
		return Record{}, fmt.Errorf("starting %s: it is running already, as process %d", spec.Name, records[i].PID)
	}
	record, err := start(spec)
	if err != nil {
		return Record{}, err
	}
	if i >= 0 {
		records[i] = record
	} else {
		records = append(records, record)
	}
	if err := t.write(records); err != nil {
		return Record{}, errors.Join(err, record.end(0))
	}
	return record, nil
}

// End ends the program called name: SIGTERM, and after grace SIGKILL. It may
// be started again from its record.
func (t Table) End(name string, grace time.Duration) error {
	record, err := t.Record(name)
	if err != nil {
		return err
	}
	if err := record.end(grace); err != nil {
		return err
	}
	unlock, err := t.lock()
	if err != nil {
		return err
	}
	defer unlock()
	records, err := t.read()
	if err != nil {
		return err
	}
	if i := index(records, name); i >= 0 && records[i].PID == record.PID {
		records[i].PID, records[i].Birth = 0, ""
	}
	return t.write(records)
}

// EndAll ends every program at once and without grace, then the table itself,
// so that nothing more can be started. Without a table there is nothing to do.
func (t Table) EndAll() error {
	unlock, err := t.lock()
	if err != nil {
		return err
	}
	defer unlock()
	records, err := t.read()
	if errors.Is(err, ErrNoTable) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := endTogether(records); err != nil {
		return err
	}
	return os.Remove(t.Path())
}

func endTogether(records []Record) error {
	errs := make([]error, len(records))
	var ending sync.WaitGroup
	for i, record := range records {
		ending.Go(func() { errs[i] = record.end(0) })
	}
	ending.Wait()
	return errors.Join(errs...)
}

func (t Table) lock() (unlock func(), err error) {
	return filelock.Lock(filepath.Join(t.dir, "processes.lock"))
}

func (t Table) read() ([]Record, error) {
	data, err := os.ReadFile(t.Path())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, ErrNoTable
	}
	if err != nil {
		return nil, fmt.Errorf("reading the list of processes: %w", err)
	}
	var records []Record
	if err := json.Unmarshal(data, &records); err != nil {
		return nil, fmt.Errorf("reading %s: %w", t.Path(), err)
	}
	return records, nil
}

// write replaces the file in one step: a reader sees the old list or the new.
func (t Table) write(records []Record) error {
	data, err := json.MarshalIndent(records, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the list of processes: %w", err)
	}
	next := t.Path() + ".next"
	if err := os.WriteFile(next, data, 0o600); err != nil {
		return fmt.Errorf("writing the list of processes: %w", err)
	}
	return os.Rename(next, t.Path())
}

func index(records []Record, name string) int {
	return slices.IndexFunc(records, func(r Record) bool { return r.Name == name })
}

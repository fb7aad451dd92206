// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func newTable(t *testing.T) Table {
	t.Helper()
	table := Open(t.TempDir())
	if err := table.Create(); err != nil {
		t.Fatalf("Create: %v", err)
	}
	t.Cleanup(func() {
		if err := table.EndAll(); err != nil {
			t.Errorf("EndAll: %v", err)
		}
	})
	return table
}

func shell(table Table, name, script string) Spec {
	return Spec{Name: name, Path: "/bin/sh", Args: []string{"-c", script}, Log: filepath.Join(table.dir, name+".log")}
}

func mustStart(t *testing.T, table Table, spec Spec) Record {
	t.Helper()
	record, err := table.Start(spec)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	return record
}

func wantState(t *testing.T, record Record, want State) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for record.State() != want {
		if time.Now().After(deadline) {
			t.Fatalf("%s is %s, want %s", record.Name, record.State(), want)
		}
		<-time.After(pollInterval)
	}
}

func TestProgramsStartStopAndStartAgain(t *testing.T) {
	table := newTable(t)
	record := mustStart(t, table, shell(table, "sleeper", "exec sleep 60"))
	wantState(t, record, Running)
	if _, err := table.Start(record.Spec); err == nil || !strings.Contains(err.Error(), "it is running already") {
		t.Errorf("starting it twice: error = %v", err)
	}
	if err := table.End("sleeper", time.Minute); err != nil {
		t.Fatalf("End: %v", err)
	}
	wantState(t, record, Died)
	stopped, err := table.Record("sleeper")
	if err != nil || stopped.State() != Stopped {
		t.Fatalf("after End the table says %s, %v; want %s", stopped.State(), err, Stopped)
	}
	if err := stopped.Signal(syscall.SIGCONT); err == nil || !strings.Contains(err.Error(), "it is not running") {
		t.Errorf("signalling a stopped program: error = %v", err)
	}
	wantState(t, mustStart(t, table, stopped.Spec), Running)
}

func TestEndingAProgramThatWillNotGo(t *testing.T) {
	table := newTable(t)
	deaf := mustStart(t, table, shell(table, "deaf", `trap "" TERM; echo deaf; while :; do sleep 1; done`))
	awaitLog(t, deaf, "deaf")
	if err := table.End("deaf", 10*pollInterval); err != nil {
		t.Fatalf("End: %v", err)
	}
	wantState(t, deaf, Died)
}

func awaitLog(t *testing.T, record Record, want string) {
	t.Helper()
	err := record.Await(t.Context(), func(context.Context) error {
		if !strings.Contains(Tail(record.Log), want) {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestEndAllEndsFrozenProgramsAndClosesTheTable(t *testing.T) {
	table := newTable(t)
	frozen := mustStart(t, table, shell(table, "frozen", "exec sleep 60"))
	running := mustStart(t, table, shell(table, "running", "exec sleep 60"))
	if err := frozen.Signal(syscall.SIGSTOP); err != nil {
		t.Fatalf("Signal: %v", err)
	}
	wantState(t, frozen, Frozen)
	for range 2 { // a second time does nothing
		if err := table.EndAll(); err != nil {
			t.Fatalf("EndAll: %v", err)
		}
	}
	wantState(t, frozen, Died)
	wantState(t, running, Died)
	if _, err := table.Start(running.Spec); !errors.Is(err, ErrNoTable) {
		t.Errorf("Start after EndAll: error = %v, want %v", err, ErrNoTable)
	}
}

func TestAStrangerWithAnOldProcessIDIsLeftAlone(t *testing.T) {
	table := newTable(t)
	stranger := mustStart(t, table, shell(table, "stranger", "exec sleep 60"))
	mistaken := stranger
	mistaken.Birth += "0"
	wantState(t, mistaken, Died)
	if err := mistaken.end(0); err != nil {
		t.Errorf("ending a process that is gone: %v", err)
	}
	if err := mistaken.Signal(syscall.SIGKILL); err == nil {
		t.Error("a process of another birth was signalled")
	}
	wantState(t, stranger, Running)
}

func TestCreateRefusesATableInUse(t *testing.T) {
	table := newTable(t)
	if err := table.Create(); err == nil {
		t.Error("a second Create succeeded")
	}
}

func TestAwaitShowsTheLastLinesOfAProgramThatDied(t *testing.T) {
	table := newTable(t)
	record := mustStart(t, table, shell(table, "broken", "for i in $(seq 30); do echo line $i; done; exit 3"))
	err := record.Await(t.Context(), func(context.Context) error { return errors.New("not ready") })
	if err == nil {
		t.Fatal("Await succeeded")
	}
	got := err.Error()
	if !strings.HasPrefix(got, "broken died; the last lines of "+record.Log+":\n  line 16\n") || !strings.HasSuffix(got, "\n  line 30") {
		t.Errorf("Await: %s", got)
	}
}

func TestAwaitGivesUpWithTheLastReason(t *testing.T) {
	table := newTable(t)
	record := mustStart(t, table, shell(table, "slow", "echo starting; exec sleep 60"))
	awaitLog(t, record, "starting")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("out of patience"))
	err := record.Await(ctx, func(context.Context) error { return errors.New("still reading") })
	want := "waiting for slow: out of patience: still reading; the last lines of " + record.Log + ":\n  starting"
	if err == nil || err.Error() != want {
		t.Errorf("Await: error = %v, want %s", err, want)
	}
}

func TestTailOfAMissingLogSaysSo(t *testing.T) {
	if got := Tail(filepath.Join(t.TempDir(), "none")); !strings.Contains(got, "no such file") {
		t.Errorf("Tail = %q", got)
	}
}

func TestAMissingProgramIsNamed(t *testing.T) {
	table := newTable(t)
	_, err := table.Start(Spec{Name: "ghost", Path: "/no/such/program", Log: filepath.Join(table.dir, "ghost.log")})
	if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "starting ghost: ") {
		t.Errorf("Start: error = %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/plugin/replaying"
	"github.com/fleetscale/fleetscale/pkg/recording"
)

const (
	// readTimeout bounds one reading of a record.
	readTimeout = 2 * time.Minute
	// mostPasts is how many autoscalers have their recorded past kept.
	mostPasts = 16
	// mostSettings is how many fields a replay may set.
	mostSettings = 20
	noRecord     = "There is no record of it."
	// tooMany is said to who has waited for a turn without success.
	tooMany = "Too many records are being read at present. Try again in a few minutes."
	// cutOff is from which use of their requests, in percent, Pods are taken to be at their limit.
	cutOff = 95
)

// pasts are where it is known from what was before the page was started.
type pasts interface {
	// past is what is known of an autoscaler.
	past(ctx context.Context, id string) before
	// archiveOf has its decisions; nil: nothing has.
	archiveOf(id string) *replaying.Archive
}

// before is what a record has of an autoscaler, with why there may be more; nil: nothing, or nothing yet where it is being read.
type before struct {
	recorded *recorded
	trouble  string
	reading  bool
}

// recordTrouble says why a record is not read; empty: it is.
func recordTrouble(err error) string {
	if err == nil {
		return ""
	}
	return "The record cannot be read: " + told(err)
}

// archive is the record that was given; nil: none was.
type archive struct {
	*replaying.Archive

	file string
	growing
}

// openArchive opens the record in a file; without a name there is none.
func openArchive(file string) (*archive, error) {
	if file == "" {
		return nil, nil
	}
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	open := func() (io.ReadCloser, error) { return os.Open(file) }
	return &archive{Archive: replaying.NewArchive(open), file: file}, nil
}

// recordedObject is the one that an id is of; false: no decisions of its kind are recorded.
func recordedObject(id string) (recording.Object, bool) {
	parts := strings.Split(id, "/")
	if len(parts) != 3 {
		return recording.Object{}, false
	}
	of := recording.Object{Namespace: parts[1], Name: parts[2]}
	switch parts[0] {
	case kinds[0].short:
	case kinds[1].short:
		of.Kind = recording.SizesKind
	default:
		return recording.Object{}, false
	}
	return of, true
}

func (a *archive) past(ctx context.Context, id string) before {
	all, err := a.read(ctx, []string{id})
	return before{recorded: all[id], trouble: recordTrouble(err)}
}

func (a *archive) archiveOf(string) *replaying.Archive { return a.Archive }

// read reads the pasts of autoscalers; those of which there is nothing have none.
func (a *archive) read(ctx context.Context, ids []string) (map[string]*recorded, error) {
	all := map[string]*recorded{}
	wanted := map[string]recording.Object{}
	for _, id := range ids {
		if of, is := recordedObject(id); is {
			wanted[id] = of
		}
	}
	if a == nil || len(wanted) == 0 {
		return all, nil
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	err := a.InTurn(ctx, func() error {
		in, err := os.Open(a.file)
		if err != nil {
			return err
		}
		defer in.Close()
		if err := a.follow(ctx, in, slices.Collect(maps.Values(wanted))); err != nil {
			return err
		}
		for id, of := range wanted {
			all[id] = a.pasts[of].known()
		}
		return nil
	})
	return all, err
}

// moment answers why a decision was what it was: the last one that is not after a time.
func (s *site) moment(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	of, is := recordedObject(id)
	from := s.pasts.archiveOf(id)
	at, err := strconv.ParseInt(r.URL.Query().Get("at"), 10, 64)
	if from == nil || !is || err != nil {
		http.Error(w, noRecord, http.StatusNotFound)
		return
	}
	s.again(w, r, func(ctx context.Context) (any, int, string) {
		var found *recording.Record
		_, err := from.Each(ctx, func(o recording.Object) bool { return o == of }, func(r *recording.Record) {
			if now := r.Question.Now.UnixMilli(); now <= at && (found == nil || !r.Question.Now.Before(found.Question.Now)) {
				found = r
			}
		})
		switch {
		case err != nil:
			return nil, http.StatusInternalServerError, recordTrouble(err)
		case found == nil:
			return nil, http.StatusNotFound, "No decision was recorded by then."
		}
		return momentOf(found), 0, ""
	})
}

// replay answers what the decisions would have been with other fields of the spec.
func (s *site) replay(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	of, is := recordedObject(id)
	from := s.pasts.archiveOf(id)
	set := r.URL.Query()["set"]
	if from == nil || !is || len(set) > mostSettings {
		http.Error(w, noRecord, http.StatusNotFound)
		return
	}
	s.again(w, r, func(ctx context.Context) (any, int, string) {
		view, err := from.Replay(ctx, of, set, cutOff)
		if err != nil {
			return nil, http.StatusUnprocessableEntity, fleet.PrintableLine(err.Error(), mostTold)
		}
		return view, 0, ""
	})
}

// again has recorded decisions be made again in turn, and answers with what they come to, or with a code and a sentence that says why
// not. The page's own turn lasts until all is written, for which a browser may take its time; those of others do not wait for it.
func (s *site) again(w http.ResponseWriter, r *http.Request, decide func(context.Context) (value any, code int, trouble string)) {
	ctx, cancel := context.WithTimeout(r.Context(), readTimeout)
	defer cancel()
	end, err := s.own.take(ctx)
	if err != nil {
		http.Error(w, tooMany, http.StatusServiceUnavailable)
		return
	}
	defer end()
	leave, err := s.turns.take(ctx)
	if err != nil {
		http.Error(w, tooMany, http.StatusServiceUnavailable)
		return
	}
	value, code, trouble := func() (any, int, string) {
		defer leave()
		return decide(ctx)
	}()
	if trouble != "" {
		http.Error(w, trouble, code)
		return
	}
	reply(w, value)
}

func reply(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // a browser that is gone needs no answer
}

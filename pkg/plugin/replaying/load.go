// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/recording"
)

// mostNamed is how many objects an error names.
const mostNamed = 10

// kinds are the words for the kind whose decisions are recorded.
var kinds = []string{"fhpa", "federatedhpa", "federatedhpas"}

// cut returns the name of words that mean an object, fhpa/NAME or fhpa NAME; false: they mean none. A file of such a name is
// ./fhpa/NAME.
func cut(words []string) (name string, isObject bool) {
	kind, name, found := strings.Cut(strings.Join(words, "/"), "/")
	kind, _, _ = strings.Cut(strings.ToLower(kind), ".")
	return name, found && slices.Contains(kinds, kind)
}

// named is the object that the words of a command line mean.
func named(caller *plugin.Caller, words []string) (recording.Object, error) {
	name, isObject := cut(words)
	if !isObject || name == "" || strings.Contains(name, "/") {
		return recording.Object{}, fmt.Errorf("%q names no FederatedHPA: write fhpa/NAME", strings.Join(words, " "))
	}
	namespace, err := caller.Namespace()
	return recording.Object{Namespace: namespace, Name: name}, err
}

// allNamed are the objects that words mean: fhpa/NAME each, or fhpa NAME.
func allNamed(caller *plugin.Caller, words []string) (all []recording.Object, err error) {
	if len(words) == 2 && !strings.Contains(words[0], "/") {
		words = []string{words[0] + "/" + words[1]}
	}
	for _, word := range words {
		object, err := named(caller, []string{word})
		if err != nil {
			return nil, err
		}
		all = append(all, object)
	}
	return all, nil
}

// loaded are the records of one object.
type loaded struct {
	recording.Object
	records []*recording.Record
	// torn: the end could not be read.
	torn bool
}

// load reads the records of an object from a stream. Without a name it is the only one that there is.
func load(in io.Reader, of recording.Object, since time.Time) (*loaded, error) {
	seen := map[recording.Object]bool{}
	wanted := func(o recording.Object) bool {
		seen[o] = true
		return of.Name == "" && len(seen) == 1 || o == of
	}
	l := &loaded{Object: of}
	var err error
	if l.torn, err = scan(in, wanted, func(r *recording.Record) error {
		if !r.Question.Now.Before(since) {
			l.records = append(l.records, r)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if of.Name == "" && len(seen) > 1 {
		return nil, fmt.Errorf("the record is of several objects: choose one with --fhpa NAMESPACE/NAME: %s", list(seen))
	}
	if len(l.records) == 0 && len(seen) > 0 && !seen[of] && of.Name != "" {
		return nil, fmt.Errorf("no decision of FederatedHPA %s/%s is recorded; there are records of %s", of.Namespace, of.Name, list(seen))
	}
	if len(l.records) == 0 {
		return nil, errors.New("no decision is recorded: only those in central mode are, from when the controller-manager was started on, or " +
			"with --record-dir from before, too")
	}
	l.Object = l.records[0].Object
	slices.SortStableFunc(l.records, func(a, b *recording.Record) int { return a.Question.Now.Compare(b.Question.Now) })
	return l, nil
}

// scan does something of each record of the objects that are wanted, by their names. Torn: the end could not be read.
func scan(in io.Reader, wanted func(recording.Object) bool, do func(*recording.Record) error) (torn bool, err error) {
	d := recording.NewDecoder(in)
	d.Wanted = func(o recording.Object) bool {
		o.UID = ""
		return wanted(o)
	}
	for {
		r, err := d.Next()
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case errors.Is(err, recording.ErrTorn):
			return true, nil
		case err != nil:
			return false, fmt.Errorf("reading the record: %w", err)
		}
		if err := do(r); err != nil {
			return false, err
		}
	}
}

func list(seen map[recording.Object]bool) string {
	all := slices.SortedFunc(maps.Keys(seen), func(a, b recording.Object) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	var names []string
	for _, o := range all[:min(len(all), mostNamed)] {
		names = append(names, fleet.Printable(o.Namespace+"/"+o.Name, 128))
	}
	if more := len(all) - mostNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"cmp"
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

// kinds are the words for the kinds whose decisions are recorded.
var kinds = map[string]recording.Kind{
	"fhpa": recording.Replicas, "federatedhpa": recording.Replicas, "federatedhpas": recording.Replicas,
	"mpa": recording.SizesKind, "multidimpodautoscaler": recording.SizesKind, "multidimpodautoscalers": recording.SizesKind,
}

// cut returns the kind and name of words that mean an object, fhpa/NAME or fhpa NAME; false: they mean none. A file of such a name is
// ./fhpa/NAME.
func cut(words []string) (kind recording.Kind, name string, isObject bool) {
	word, name, found := strings.Cut(strings.Join(words, "/"), "/")
	word, _, _ = strings.Cut(strings.ToLower(word), ".")
	kind, known := kinds[word]
	return kind, name, found && known
}

// named is the object that the words of a command line mean.
func named(caller *plugin.Caller, words []string) (recording.Object, error) {
	kind, name, isObject := cut(words)
	if !isObject || name == "" || strings.Contains(name, "/") {
		return recording.Object{}, fmt.Errorf("%q names no autoscaler: write fhpa/NAME or mpa/NAME", strings.Join(words, " "))
	}
	namespace, err := caller.Namespace()
	return recording.Object{Namespace: namespace, Name: name, Kind: kind}, err
}

// allNamed are the objects that words mean: TYPE/NAME each, or TYPE NAME.
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

// title names the object.
func (l *loaded) title() string { return l.Type() + " " + l.Namespace + "/" + l.Name }

// loaded are the records of one object.
type loaded struct {
	recording.Object
	records []*recording.Record
	extent
	// others are decisions that were left out, as they were made in the other mode than the last one.
	others int
}

// extent is how much of a stream was read: torn, its end could not be; skipped are records of a kind that is not known.
type extent struct {
	torn    bool
	skipped int
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
	if l.extent, err = scan(recording.NewDecoder(in), wanted, func(r *recording.Record) error {
		if !r.Question.Now.Before(since) {
			l.records = append(l.records, r)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if of.Name == "" && len(seen) > 1 {
		return nil, fmt.Errorf("the record is of several objects: choose one with --fhpa or --mpa NAMESPACE/NAME: %s", list(seen))
	}
	if len(l.records) == 0 && len(seen) > 0 && !seen[of] && of.Name != "" {
		return nil, fmt.Errorf("no decision of %s %s/%s is recorded; there are records of %s", of.Type(), of.Namespace, of.Name, list(seen))
	}
	if len(l.records) == 0 {
		return nil, errors.New("no decision is recorded: they are from when the controller-manager was started on, or with --record-dir " +
			"from before, too")
	}
	l.Object = l.records[0].Object
	l.settle()
	return l, nil
}

// settle puts records into the order of time, and leaves out those of the other mode than the last one.
func (l *loaded) settle() {
	slices.SortStableFunc(l.records, func(a, b *recording.Record) int { return a.Question.Now.Compare(b.Question.Now) })
	if len(l.records) == 0 {
		return
	}
	kind, all := l.records[len(l.records)-1].Object.Kind, len(l.records)
	l.records = slices.DeleteFunc(l.records, func(r *recording.Record) bool { return r.Object.Kind != kind })
	l.others = all - len(l.records)
}

// Scan does something of each record of the objects that are wanted, as [Archive.Each] does, of what the decoder has not read yet. It
// reports whether the end of that could not be read.
func Scan(d *recording.Decoder, wanted func(recording.Object) bool, do func(*recording.Record) error) (torn bool, err error) {
	read, err := scan(d, wanted, do)
	return read.torn, err
}

func scan(d *recording.Decoder, wanted func(recording.Object) bool, do func(*recording.Record) error) (extent, error) {
	d.Wanted = func(o recording.Object) bool {
		o = o.Whose()
		o.UID = ""
		return wanted(o)
	}
	for {
		r, err := d.Next()
		read := extent{errors.Is(err, recording.ErrTorn), d.Skipped}
		switch {
		case errors.Is(err, io.EOF), read.torn:
			return read, nil
		case err != nil:
			return read, fmt.Errorf("reading the record: %w", err)
		}
		if err := do(r); err != nil {
			return read, err
		}
	}
}

func list(seen map[recording.Object]bool) string {
	all := slices.SortedFunc(maps.Keys(seen), func(a, b recording.Object) int {
		return cmp.Or(strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	var names []string
	for _, o := range all[:min(len(all), mostNamed)] {
		name := fleet.Printable(o.Namespace+"/"+o.Name, 128)
		if o.Kind == recording.SizesKind {
			name = o.Type() + " " + name
		}
		names = append(names, name)
	}
	if more := len(all) - mostNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

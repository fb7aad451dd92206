// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Word says how the parts of one figure become one.
type Word string

const (
	// Sum adds the clusters' parts.
	Sum Word = "sum"
	// Avg is the mean of the parts; each cluster that has one weighs the same.
	Avg Word = "avg"
	// Max is the largest part.
	Max Word = "max"
	// Min is the smallest part.
	Min Word = "min"
)

// Keys of a metric selector that are for us and never reach a member. Beside
// them [fleet.ClusterLabel] says which clusters are meant.
const (
	// WordKey chooses the [Word].
	WordKey = fleet.MergeKey
	// PartialKey with the value [fleet.PartialAllow] allows an answer that lacks silent members.
	PartialKey = fleet.PartialKey
)

// Choice is what a client chose by the reserved keys of a metric selector.
type Choice struct {
	// Word is empty when none was chosen.
	Word Word
	// Clusters holds the requirements on [fleet.ClusterLabel] and no other; it
	// matches everything when there are none.
	Clusters     labels.Selector
	AllowPartial bool
}

// Choose takes the reserved keys out of a metric selector and returns what they
// chose and what remains for the members. The error is for the client, in one line.
//
// A selector that matches nothing chooses no cluster: written into a request,
// it would look like one that matches everything.
func Choose(selector labels.Selector) (Choice, labels.Selector, error) {
	requirements, selectable := selector.Requirements()
	if !selectable {
		return Choice{Clusters: labels.Nothing()}, selector, nil
	}
	choice, rest := Choice{Clusters: labels.Everything()}, labels.Everything()
	reserved := map[string]labels.Requirements{}
	for _, r := range requirements {
		switch r.Key() {
		case WordKey, PartialKey:
			reserved[r.Key()] = append(reserved[r.Key()], r)
		case fleet.ClusterLabel:
			choice.Clusters = choice.Clusters.Add(r)
		default:
			rest = rest.Add(r)
		}
	}
	word, badWord := one(reserved[WordKey], WordKey, string(Sum), string(Avg), string(Max), string(Min))
	partial, badPartial := one(reserved[PartialKey], PartialKey, fleet.PartialAllow)
	if err := oneLine(badWord, badPartial); err != nil {
		return Choice{}, nil, err
	}
	choice.Word, choice.AllowPartial = Word(word), partial != ""
	return choice, rest, nil
}

// one is the accepted word that the requirements on a key agree on; empty without requirements.
func one(requirements labels.Requirements, key string, accepted ...string) (string, error) {
	if len(requirements) == 0 {
		return "", nil
	}
	var got, words []string
	for _, r := range requirements {
		got = append(got, r.String())
		words = append(words, wanted(r)...)
	}
	words = slices.Compact(words)
	if len(words) != 1 || !slices.Contains(accepted, words[0]) {
		return "", fmt.Errorf("metric selector %q: %s takes one of %s, written %s=%s",
			strings.Join(got, ","), key, strings.Join(accepted, ", "), key, accepted[0])
	}
	return words[0], nil
}

// wanted are the values that a requirement wants, or one that nobody accepts
// where it wants something else of them.
func wanted(r labels.Requirement) []string {
	switch r.Operator() {
	case selection.Equals, selection.DoubleEquals, selection.In:
		return r.ValuesUnsorted()
	default:
		return []string{""}
	}
}

func oneLine(errs ...error) error {
	err := errors.Join(errs...)
	if err == nil {
		return nil
	}
	return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
}

// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Word says how the figures of several clusters become one.
type Word string

// The words there are. The empty word stands for the default of what is merged.
const (
	Sum Word = "sum"
	Avg Word = "avg" // unweighted, over the clusters that have the figure
	Max Word = "max"
	Min Word = "min"
)

// The reserved keys of a metric's selector, beside [fleet.ClusterLabel]. None
// of them reaches a member.
const (
	WordKey    = "fleetscale.io/merge"
	PartialKey = "fleetscale.io/partial"
)

// Choice is what an asker chose by reserved keys.
type Choice struct {
	Word Word
	// Clusters has the requirements on fleet.ClusterLabel.
	Clusters     labels.Selector
	AllowPartial bool
}

// Choose takes the reserved keys out of a metric's selector; what is left is
// for the members. The error is one line for the asker.
func Choose(selector labels.Selector) (Choice, labels.Selector, error) {
	choice, rest := Choice{Clusters: labels.Everything()}, labels.Everything()
	requirements, selectable := selector.Requirements()
	if !selectable {
		return choice, labels.Nothing(), nil
	}
	for _, r := range requirements {
		var err error
		switch r.Key() {
		case WordKey:
			var word string
			word, err = oneOf(r, choice.Word != "", string(Sum), string(Avg), string(Max), string(Min))
			choice.Word = Word(word)
		case PartialKey:
			_, err = oneOf(r, choice.AllowPartial, fleet.PartialAllow)
			choice.AllowPartial = true
		case fleet.ClusterLabel:
			choice.Clusters = choice.Clusters.Add(r)
		default:
			rest = rest.Add(r)
		}
		if err != nil {
			return Choice{}, nil, err
		}
	}
	return choice, rest, nil
}

// oneOf is the word that a requirement asks for.
func oneOf(r labels.Requirement, again bool, words ...string) (string, error) {
	values := r.Values().UnsortedList()
	equals := r.Operator() == selection.Equals || r.Operator() == selection.DoubleEquals || r.Operator() == selection.In
	if again || !equals || len(values) != 1 || !slices.Contains(words, values[0]) {
		return "", fmt.Errorf("%s must be given once, with =, as one of %s; got %q", r.Key(), strings.Join(words, ", "), r.String())
	}
	return values[0], nil
}

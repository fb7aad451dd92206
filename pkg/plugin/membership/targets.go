// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Target is a cluster, by the name that it has in the fleet and by the context of the caller's kubeconfig that leads there.
type Target struct {
	Name string
	// Context is empty where the member itself is not asked.
	Context string
}

// Choice is how a person names clusters.
type Choice struct {
	// Args are names, or NAME=CONTEXT.
	Args []string
	// Context leads to the only cluster that is named without one.
	Context string
	// Contexts is a pattern of contexts, each of which names its cluster too.
	Contexts string
}

// Targets are the clusters that are chosen, of a kubeconfig with these contexts. A pattern does not choose the hub's.
func (c Choice) Targets(contexts []string, hub string) ([]Target, error) {
	targets, err := c.named(contexts)
	if c.Contexts != "" {
		matching, patternErr := matching(c.Contexts, contexts, hub)
		targets, err = append(targets, matching...), errors.Join(err, patternErr)
	}
	if err == nil && len(targets) == 0 {
		err = errors.New("give the NAME of a cluster, or several as NAME=CONTEXT")
	}
	return targets, errors.Join(err, judgeNames(targets))
}

func (c Choice) named(contexts []string) ([]Target, error) {
	var targets []Target
	var errs []error
	for _, arg := range c.Args {
		name, context, paired := strings.Cut(arg, "=")
		switch {
		case !paired && c.Context != "" && len(c.Args) > 1:
			errs = append(errs, errors.New("--context leads to one cluster: name several as NAME=CONTEXT"))
		case !paired:
			context = c.Context
		case c.Context != "":
			errs = append(errs, fmt.Errorf("%s names its context: leave --context away", arg))
		case context == "":
			errs = append(errs, fmt.Errorf("%s names no context", arg))
		}
		if context != "" && !slices.Contains(contexts, context) {
			errs = append(errs, fmt.Errorf("the kubeconfig has no context %q; `kubectl config get-contexts` lists them", context))
		}
		targets = append(targets, Target{Name: name, Context: context})
	}
	return targets, errors.Join(errs...)
}

func matching(pattern string, contexts []string, hub string) ([]Target, error) {
	var targets []Target
	for _, context := range slices.Sorted(slices.Values(contexts)) {
		matches, err := path.Match(pattern, context)
		if err != nil {
			return nil, fmt.Errorf("--contexts: %q is no pattern: %w", pattern, err)
		}
		if matches && context != hub {
			targets = append(targets, Target{Name: context, Context: context})
		}
	}
	if len(targets) == 0 {
		return nil, fmt.Errorf("--contexts: no context matches %q; `kubectl config get-contexts` lists them", pattern)
	}
	return targets, nil
}

func judgeNames(targets []Target) error {
	var errs []error
	names, contexts := map[string]bool{}, map[string]bool{}
	for _, t := range targets {
		switch {
		case len(validation.IsDNS1123Label(t.Name)) > 0:
			errs = append(errs, fmt.Errorf("%q cannot name a cluster: a name has at most %d characters, lower-case letters, digits and '-', "+
				"and no dots; give another as NAME=CONTEXT", t.Name, validation.DNS1123LabelMaxLength))
		case names[t.Name]:
			errs = append(errs, fmt.Errorf("%q is named twice", t.Name))
		case t.Context != "" && contexts[t.Context]:
			errs = append(errs, fmt.Errorf("context %q is named twice: a cluster has one name", t.Context))
		}
		names[t.Name], contexts[t.Context] = true, true
	}
	return errors.Join(errs...)
}

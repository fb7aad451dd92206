// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// hubAllows answers by the selectors that it is asked with.
type hubAllows struct {
	allowed map[string]authorizer.Decision
	err     error
	asked   []string
}

func (h *hubAllows) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	byLabel, _ := a.GetLabelSelector()
	byField, _ := a.GetFieldSelector()
	what := a.GetNamespace()
	for _, r := range byLabel {
		what += " " + r.String()
	}
	for _, r := range byField {
		what += " " + r.Field + string(r.Operator) + r.Value
	}
	h.asked = append(h.asked, what)
	return h.allowed[what], what, h.err
}

// Who may have all of a list is asked about once, whatever part is wanted; who may not, about the part.
func TestWholeIsAskedFirst(t *testing.T) {
	const allow, deny, none = authorizer.DecisionAllow, authorizer.DecisionDeny, authorizer.DecisionNoOpinion
	byApp, err := labels.ParseToRequirements("app=web")
	if err != nil {
		t.Fatal(err)
	}
	byName, err := fields.ParseSelector("metadata.name=web-1")
	if err != nil {
		t.Fatal(err)
	}
	of := func(change func(*authorizer.AttributesRecord)) authorizer.AttributesRecord {
		a := authorizer.AttributesRecord{Namespace: "shop", ResourceRequest: true}
		change(&a)
		return a
	}
	all := of(func(*authorizer.AttributesRecord) {})
	part := of(func(a *authorizer.AttributesRecord) { a.LabelSelectorRequirements = byApp })
	one := of(func(a *authorizer.AttributesRecord) { a.FieldSelectorRequirements = byName.Requirements() })
	unclear := of(func(a *authorizer.AttributesRecord) { a.LabelSelectorParsingErr = errors.New("unclear") })
	away := errors.New("the hub is away")
	type decisions = map[string]authorizer.Decision
	both := []string{"shop", "shop app=web"}
	for name, tc := range map[string]struct {
		request authorizer.AttributesRecord
		allowed map[string]authorizer.Decision
		err     error
		want    authorizer.Decision
		asked   []string
	}{
		"all of it":                    {all, decisions{"shop": allow}, nil, allow, []string{"shop"}},
		"all of it, and it is denied":  {all, decisions{"shop": deny}, nil, deny, []string{"shop"}},
		"a part of what is allowed":    {part, decisions{"shop": allow}, nil, allow, []string{"shop"}},
		"only that part is allowed":    {part, decisions{"shop": deny, "shop app=web": allow}, nil, allow, both},
		"nobody has an opinion of all": {part, decisions{"shop": none, "shop app=web": allow}, nil, allow, both},
		"another part is allowed":      {part, decisions{"shop app=api": allow, "shop": none, "shop app=web": none}, nil, none, both},
		"one Pod of what is allowed":   {one, decisions{"shop": allow}, nil, allow, []string{"shop"}},
		"only that Pod is allowed": {one, decisions{"shop metadata.name=web-1": allow}, nil, allow,
			[]string{"shop", "shop metadata.name=web-1"}},
		"what cannot be read, of all":    {unclear, decisions{"shop": allow}, nil, allow, []string{"shop"}},
		"the hub is away":                {part, nil, away, deny, []string{"shop"}},
		"the hub is away, and asked all": {all, nil, away, deny, []string{"shop"}},
	} {
		t.Run(name, func(t *testing.T) {
			hub := &hubAllows{allowed: tc.allowed, err: tc.err}
			got, _, err := wholeFirst(hub).Authorize(t.Context(), tc.request)
			if got != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("decision %v, %v; want %v, %v", got, err, tc.want, tc.err)
			}
			fleettest.Same(t, "asked", tc.asked, hub.asked)
		})
	}
}

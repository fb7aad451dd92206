// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"slices"
	"strings"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/plugin/crontab"
)

const (
	// mostComing bounds how many runs are told.
	mostComing = 20
	// comingOfRule is how many runs of one rule are.
	comingOfRule = 3
)

// coming is a run of a rule that is to come, or a rule that does not run.
type coming struct {
	// At is 0 for a rule that does not run; then Notes say why.
	At   int64  `json:"at,omitempty"`
	Zone string `json:"zone"`
	// From is the name of the CronFederatedHPA, in the namespace of what it sets.
	From  string `json:"from"`
	Rule  string `json:"rule"`
	Sets  string `json:"sets"`
	Notes string `json:"notes,omitempty"`
}

// comingOf are the runs that will set an autoscaler, or those of its own rules.
func comingOf(k known) []coming {
	var by []*v1alpha1.CronFederatedHPA
	if own, is := k.Object.(*v1alpha1.CronFederatedHPA); is {
		by = append(by, own)
	} else {
		for _, rules := range k.Rules {
			to := rules.Spec.ScaleTargetRef
			if rules.Namespace == k.Object.GetNamespace() && to.Kind == kindOf(k.Object).name && to.Name == k.Object.GetName() &&
				strings.HasPrefix(to.APIVersion, v1alpha1.GroupName+"/") {
				by = append(by, rules)
			}
		}
		slices.SortFunc(by, func(a, b *v1alpha1.CronFederatedHPA) int { return strings.Compare(a.Name, b.Name) })
	}
	runs := crontab.Upcoming(by, crontab.Span{Now: k.Now, Count: comingOfRule, Local: time.UTC})
	all := []coming{}
	for i := range runs[:min(len(runs), mostComing)] {
		r := &runs[i]
		c := coming{Zone: r.Zone, From: r.Name, Rule: r.Rule, Sets: r.Sets, Notes: strings.Join(r.Notes, "; ")}
		if r.At != nil {
			c.At = r.At.UnixMilli()
		}
		all = append(all, c)
	}
	return all
}

// SPDX-License-Identifier: Apache-2.0

package apiguard

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
)

// judgeGroup reports each change once, of whether versions of a group lead to different servers. Installers of others do
// that: they know v1beta1 of metrics.k8s.io only, which autoscalers ask for, and leave v1, which a newer kubectl asks for.
func (g *Guard) judgeGroup(ctx context.Context, group string) {
	targets := map[string]types.NamespacedName{}
	for name, f := range g.last {
		if f.exists {
			targets[name] = f.target
		}
	}
	before, now := g.shares[group], apiservice.Share(group, targets, g.options.Service)
	g.shares[group] = now
	g.options.Metrics.setSplit(group, now.Split())
	logger := klog.FromContext(ctx).WithValues("group", group)
	switch {
	case !now.Split():
		if before.Split() {
			logger.Info("API group is no longer split")
		}
	case !before.Split():
		logger.Error(nil, "API group is split: its clients get different answers, by the version that they ask for",
			"ours", now.Ours, "others", now.Others, "advice", advice(group))
		g.recordSplit(group, now)
	}
}

// recordSplit writes an Event on each APIService that leads elsewhere.
func (g *Guard) recordSplit(group string, s apiservice.Shares) {
	if g.options.Recorder == nil {
		return
	}
	note := fmt.Sprintf("%s still leads to %s, so clients of %s get different answers, by the version that they ask for; %s",
		strings.Join(s.Ours, ", "), apiservice.Describe(g.options.Service), group, advice(group))
	for _, name := range s.Others {
		g.options.Recorder.Event(referenceTo(name, g.last[name]), corev1.EventTypeWarning, ReasonSplit, note)
	}
}

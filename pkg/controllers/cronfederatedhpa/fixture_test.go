// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan/cronplantest"
)

type ruleSpec = v1alpha1.CronFederatedHPARule

// Words that make the tests short.
var (
	sets, setsMin, setsBoth         = cronplantest.Sets, cronplantest.SetsMin, cronplantest.SetsBoth
	deployment, federated, multidim = cronplantest.Deployment, cronplantest.Federated, cronplantest.Multidim
	autoscalers, newCron, moment    = cronplantest.Autoscalers, cronplantest.NewCron, cronplantest.Moment
)

// stamp is a time as the API writes it.
func stamp(t time.Time) *metav1.Time { return new(metav1.NewTime(t)) }

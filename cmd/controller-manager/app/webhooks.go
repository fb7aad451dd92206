// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fleetscale/fleetscale/pkg/hub/webhooks"
)

// addWebhookWatch adds what tells when Karmada's webhooks for our kinds come back. Like the schema they do at any time, with
// the next run of Karmada's installer. The leader alone tells of it. Who only observes does so beside Karmada, whose webhooks belong
// there.
func addWebhookWatch(manager ctrl.Manager, p *parts, o *Options) error {
	if o.Observing.Observe {
		return nil
	}
	watch := webhooks.New(webhooks.Options{
		Hub:      manager.GetAPIReader(),
		Mapper:   manager.GetRESTMapper(),
		Period:   schemaPeriod,
		Metrics:  p.told.webhooks,
		Recorder: manager.GetEventRecorder(program),
	})
	return manager.Add(leading(func(ctx context.Context) error { watch.Run(ctx); return nil }))
}

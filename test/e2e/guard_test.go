// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"
)

// Somebody points the APIService elsewhere, as an upgrade of metrics-server
// would. The adapter cannot help it, and says so.
func TestRewrittenAPIServiceIsAnAlarm(t *testing.T) {
	e := whole(t)
	const name = "v1beta1.metrics.k8s.io"
	isOurs := func(want float64) {
		t.Helper()
		eventually(t, fmt.Sprintf("fleetscale_apiservice_ours is %v", want), func(context.Context) error {
			if got, found := metric(t, e.adapter, "fleetscale_apiservice_ours", `apiservice="`+name+`"`); !found || got != want {
				return fmt.Errorf("it is %v (%v)", got, found)
			}
			return nil
		})
	}
	isSplit := func(want float64) {
		t.Helper()
		eventually(t, fmt.Sprintf("fleetscale_apiservice_group_split is %v", want), func(context.Context) error {
			if got, found := metric(t, e.adapter, "fleetscale_apiservice_group_split", `group="metrics.k8s.io"`); !found || got != want {
				return fmt.Errorf("it is %v (%v)", got, found)
			}
			return nil
		})
	}
	isOurs(1)
	skip := logLength(t, e.adapter)
	point := func(service string) {
		t.Helper()
		e.kubectl(t, "patch", "apiservice", name, "--type=merge", "-p", `{"spec":{"service":{"name":"`+service+`"}}}`)
	}
	t.Cleanup(func() { _, _ = e.TakeOver(afterwards(t), e.adapter) })
	point("somebody-else")
	isOurs(0)
	logged(t, e.adapter, skip, "APIService is not ours", name, "Service fleetscale-system/somebody-else", "kubectl fleetscale takeover")
	isSplit(1) // v1 still leads to us
	logged(t, e.adapter, skip, "API group is split", "v1.metrics.k8s.io", name, "kubectl fleetscale takeover")
	for _, reason := range []string{"PointsElsewhere", "Split"} {
		eventually(t, "an Event "+reason+" tells it", func(ctx context.Context) error {
			said, err := e.Ask(ctx, "-n", "default", "get", "events", "-o", "name",
				"--field-selector", "reason="+reason+",involvedObject.name="+name)
			if err == nil && said.Stdout == "" {
				err = fmt.Errorf("no event: %s", said.Stderr)
			}
			return err
		})
	}
	point("metrics-adapter")
	isOurs(1)
	isSplit(0)
	logged(t, e.adapter, skip, "APIService is ours", name)
	e.recovers(t)
}

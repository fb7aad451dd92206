// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/client-go/metadata"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fleetscale/fleetscale/pkg/controllers/tokens"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// expiries are when the first token of each registration expires, by the name of its cluster; false: that is not known yet.
type expiries func() (map[string]time.Time, bool)

// addTokens adds what renews the tokens of registration Secrets, if these register members.
func addTokens(manager ctrl.Manager, registry *member.Registry, metrics *tokens.Metrics, o member.Options, timeout time.Duration) (
	expiries, error) {
	if !slices.Contains(o.Registrations.Sources, registration.SecretSource) {
		return func() (map[string]time.Time, bool) { return nil, true }, nil
	}
	headers, err := metadata.NewForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing to renew tokens: %w", err)
	}
	renewer := tokens.New(tokens.Options{
		Hub:           tokens.HubClient{Secrets: o.Hub, Metadata: headers, Timeout: timeout},
		Registrations: o.Registrations,
		Listed: func(secret string) (string, error) {
			return registry.Registered(registration.SecretSource, secret)
		},
		Connections: o.Connections,
		Clock:       clock.RealClock{},
		Events:      o.Recorder,
		Metrics:     metrics,
	})
	return renewer.Expiries, manager.Add(leading(renewer.Run))
}

// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"io"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/metricsadapter/historyapi"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordstore"
)

// errNobody is for when the hub does not tell of a record.
var errNobody = errors.New("no controller-manager that is at work serves a record of decisions: it needs --record-bind-address, and not " +
	"--record-max=0 or --observe")

// newHistory has the leader of the controller-manager asked for what it keeps, at the address that it publishes at the time.
func newHistory(o *Options, hub kubernetes.Interface, published func(time.Time) string) *historyapi.History {
	secret := types.NamespacedName{Namespace: o.Members.IdentitiesNamespace, Name: recordstore.Secret}
	ask := func(ctx context.Context, object recording.Object, since time.Time) (io.ReadCloser, error) {
		address := published(time.Now())
		if address == "" {
			return nil, errNobody
		}
		config, err := certs.Client(ctx, hub, secret, recordstore.Service)
		if err != nil {
			return nil, err
		}
		return recordstore.Ask(ctx, &url.URL{Scheme: "https", Host: address}, config, object, since)
	}
	return historyapi.New(historyapi.Options{Ask: ask, Scope: o.Namespaces.Scope()})
}

// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"
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

// newHistory has the leader of the controller-manager asked for what it keeps, or each replica that has shards, at the addresses that the
// leader publishes at the time.
func newHistory(o *Options, hub kubernetes.Interface, published func(time.Time) []string) *historyapi.History {
	secret := types.NamespacedName{Namespace: o.Members.IdentitiesNamespace, Name: recordstore.Secret}
	ask := func(ctx context.Context, object recording.Object, since time.Time) (io.ReadCloser, error) {
		addresses := published(time.Now())
		if len(addresses) == 0 {
			return nil, errNobody
		}
		config, err := certs.Client(ctx, hub, secret, recordstore.Service)
		if err != nil {
			return nil, err
		}
		return askAll(addresses, func(address string) (io.ReadCloser, error) {
			return recordstore.Ask(ctx, &url.URL{Scheme: "https", Host: address}, config, object, since)
		})
	}
	return historyapi.New(historyapi.Options{Ask: ask, Scope: o.Namespaces.Scope()})
}

// askAll asks at all addresses at once, and returns what is there as one record. It is whole, or ends with an error.
func askAll(addresses []string, ask func(address string) (io.ReadCloser, error)) (io.ReadCloser, error) {
	if len(addresses) == 1 {
		return ask(addresses[0])
	}
	var asking errgroup.Group
	parts := make([]io.ReadCloser, len(addresses))
	for i, address := range addresses {
		asking.Go(func() (err error) {
			if parts[i], err = ask(address); err != nil {
				return fmt.Errorf("the replica at %s: %w", address, err)
			}
			return nil
		})
	}
	done := func() {
		for _, part := range parts {
			if part != nil {
				_ = part.Close()
			}
		}
	}
	if err := asking.Wait(); err != nil {
		done()
		return nil, err
	}
	record, into := io.Pipe()
	go func() {
		streams := make([]io.Reader, len(parts))
		for i, part := range parts {
			streams[i] = part
		}
		err := recording.Merge(into, streams...)
		done()
		_ = into.CloseWithError(err)
	}()
	return record, nil
}

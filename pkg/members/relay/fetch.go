// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"time"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// fetch asks by the version that the member serves.
func (l *line[T]) fetch(ctx context.Context, k key) ([]T, error) {
	learned := l.learn(nil)
	version, err := learned.wait(ctx)
	if err != nil {
		return nil, err
	}
	values, err := l.request(ctx, version, k)
	if !unrouted(err) {
		return values, err
	}
	// Perhaps it no longer serves the version, which must not pass for having none.
	now, relearnt := l.learn(learned).wait(ctx)
	switch {
	case relearnt != nil:
		return nil, relearnt
	case now == version:
		return nil, err
	default:
		return l.request(ctx, now, k)
	}
}

// acceptValues asks for protobuf, which is decoded in a third of JSON's time.
const acceptValues = "application/vnd.kubernetes.protobuf,application/json"

func (l *line[T]) request(ctx context.Context, version string, k key) (values []T, err error) {
	prepare := func(r *rest.Request) *rest.Request {
		return l.api.request(r, version, k).SetHeader("Accept", acceptValues)
	}
	err = l.get(ctx, prepare, func(body []byte) error {
		reading := l.source.Reading()
		got, err := connection.Decode(ctx, reading, body, l.api.check, func(body []byte) (answered[T], error) { return l.api.decode(body, k) })
		reading.Dropped(l.api.name, got.dropped)
		values = got.values
		return err
	})
	return values, err
}

// get makes one request, has its answer read, and counts the result.
func (l *line[T]) get(ctx context.Context, prepare func(*rest.Request) *rest.Request, read func([]byte) error) error {
	sent := time.Now()
	// Retries would hide that a member is overloaded, and ask it the more.
	result := prepare(l.source.Client().Get()).MaxRetries(0).Do(ctx)
	err := result.Error()
	if err == nil {
		body, _ := result.Raw()
		err = read(body)
	}
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	l.meter.request(err, time.Since(sent))
	return err
}

// SPDX-License-Identifier: Apache-2.0

package historyapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	registryrest "k8s.io/apiserver/pkg/registry/rest"

	autoscaling "github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/apis/history/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/recording"
)

const (
	// deadline bounds a request: API servers end it after a minute, and say less of why.
	deadline = 50 * time.Second
	// busySeconds are after how many seconds somebody who is too much asks again.
	busySeconds = 2
)

// decisions is the subresource.
type decisions struct {
	storage

	history *History
	hub     authorizer.UnconditionalAuthorizer
}

var _ registryrest.Connecter = decisions{}

func (decisions) ConnectMethods() []string { return []string{http.MethodGet} }

func (decisions) NewConnectOptions() (options runtime.Object, subpath bool, key string) {
	return nil, false, ""
}

// Connect passes the record of the object on.
func (d decisions) Connect(ctx context.Context, name string, _ runtime.Object, answer registryrest.Responder) (http.Handler, error) {
	object := recording.Object{Namespace: genericapirequest.NamespaceValue(ctx), Name: name, Kind: d.kind}
	if err := d.mayRead(ctx, object); err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), deadline)
		defer cancel()
		record, err := d.open(ctx, object, r.URL.Query().Get(v1alpha1.SinceParameter))
		if err != nil {
			answer.Error(err)
			return
		}
		defer record.Close()
		w.Header().Set("Content-Type", "application/octet-stream")
		if _, err := io.Copy(w, record); err != nil {
			panic(http.ErrAbortHandler) // who reads it must not take it for whole
		}
	}), nil
}

// mayRead is nil where the hub lets the client get the object whose history is asked for. That it lets them get the history has been asked
// before: so nobody reads more of an autoscaler by it than by the object, whatever roles there are.
func (d decisions) mayRead(ctx context.Context, object recording.Object) error {
	refused := func(why error) error {
		return apierrors.NewForbidden(v1alpha1.Resource(d.resource), object.Name, why)
	}
	if !d.history.Scope.Has(object.Namespace) {
		return refused(errors.New(d.history.Scope.Outside(object.Namespace)))
	}
	user, _ := genericapirequest.UserFrom(ctx)
	decision, reason, err := d.hub.Authorize(ctx, authorizer.AttributesRecord{
		User: user, Verb: "get", APIGroup: autoscaling.GroupName, APIVersion: autoscaling.SchemeGroupVersion.Version,
		Resource: d.resource, Namespace: object.Namespace, Name: object.Name, ResourceRequest: true,
	})
	switch {
	case decision == authorizer.DecisionAllow:
		return nil
	case err != nil:
		return apierrors.NewInternalError(fmt.Errorf("asking the hub who may read the %s: %w", d.of, err))
	case reason != "":
		reason = ": " + reason
	}
	return refused(errors.New("whoever reads its history needs the right to get " + d.resource + "." + autoscaling.GroupName + ", too" +
		reason))
}

// open returns the record, and holds a place until it is closed.
func (d decisions) open(ctx context.Context, object recording.Object, since string) (io.ReadCloser, error) {
	var from time.Time
	if since != "" {
		var err error
		if from, err = time.Parse(time.RFC3339, since); err != nil {
			return nil, apierrors.NewBadRequest(v1alpha1.SinceParameter + ": must be a time such as 2027-03-01T09:30:00Z: " + err.Error())
		}
	}
	leave, taken := d.history.places.take(object.Namespace)
	if !taken {
		return nil, apierrors.NewTooManyRequests("a record of this namespace is being read, or many are; ask again", busySeconds)
	}
	record, err := d.history.Ask(ctx, object, from)
	if err != nil {
		leave()
		return nil, apierrors.NewServiceUnavailable(err.Error())
	}
	return placed{record, leave}, nil
}

// placed is a record that leaves its place.
type placed struct {
	io.ReadCloser

	leave func()
}

func (p placed) Close() error {
	defer p.leave()
	return p.ReadCloser.Close()
}

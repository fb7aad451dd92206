// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/guard"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

const (
	// observerTimeout bounds the request.
	observerTimeout = 30 * time.Second
	// mostObserved bounds the answer, in bytes: more than an API server stores of an object.
	mostObserved = 4 << 20
)

// find reads the object of that name: from the hub, or as an observer would write it, who has it by the hub's path.
func find(ctx context.Context, caller *plugin.Caller, observer string, of kind, name string) (client.Object, error) {
	if observer == "" {
		h, err := open(caller)
		if err != nil {
			return nil, err
		}
		return h.read(ctx, of, name)
	}
	at, valid := plugin.ForwardedAt(observer)
	if !valid {
		return nil, fmt.Errorf("--observer: must be an address such as http://127.0.0.1:8082, got %q", observer)
	}
	namespace, err := caller.Namespace()
	if err != nil {
		return nil, err
	}
	return observedAt(ctx, at, of, client.ObjectKey{Namespace: namespace, Name: name})
}

func observedAt(ctx context.Context, at plugin.Forwarded, of kind, key client.ObjectKey) (client.Object, error) {
	answer, err := at.Get(ctx, observerTimeout, nil, "apis", v1alpha1.GroupName, v1alpha1.SchemeGroupVersion.Version,
		"namespaces", url.PathEscape(key.Namespace), of.names[2], url.PathEscape(key.Name))
	if err != nil {
		return nil, fmt.Errorf("asking the observer: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostObserved))
	if err != nil {
		return nil, fmt.Errorf("reading the observer's answer: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		var status metav1.Status
		if json.Unmarshal(body, &status) != nil || status.Message == "" {
			status.Message = answer.Status
		}
		return nil, fmt.Errorf("asking the observer for %s %s/%s: %s", of.names[1], key.Namespace, key.Name, told(status.Message))
	}
	object := of.empty()
	if err := guard.JSON(body, object); err != nil {
		return nil, fmt.Errorf("reading the observer's answer: %w", err)
	}
	if err := json.Unmarshal(body, object); err != nil {
		return nil, fmt.Errorf("reading the observer's answer: %w", err)
	}
	return object, nil
}

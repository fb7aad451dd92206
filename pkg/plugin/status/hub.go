// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
)

const (
	// timeout bounds each request.
	timeout = 30 * time.Second
	// asTable has the server make the table that kubectl get prints.
	asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

// hub is asked for members.
type hub struct{ client rest.Interface }

func newHub(config *rest.Config) (hub, error) {
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/apis", &v1alpha1.SchemeGroupVersion
	known := runtime.NewScheme()
	metav1.AddToGroupVersion(known, metav1.Unversioned) // a refusal
	config.NegotiatedSerializer = serializer.NewCodecFactory(known).WithoutConversion()
	config.Timeout = timeout
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return hub{}, fmt.Errorf("preparing to reach the hub: %w", err)
	}
	return hub{client}, nil
}

// get reads members, or the one of that name, in the form that is accepted.
func (h hub) get(ctx context.Context, name, accept string, into any) error {
	request := h.client.Get().Resource("members").SetHeader("Accept", accept)
	if name != "" {
		request = request.Name(name)
	}
	if accept == asTable {
		request = request.Param("includeObject", string(metav1.IncludeObject))
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil { // which reads what the hub says of it
		return err
	}
	body, err := result.Raw()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("reading the hub's answer: %w", err)
	}
	return nil
}

// explained says what to do about what the hub refused.
func explained(err error, name string) error {
	switch {
	case apierrors.IsNotFound(err) && name != "" && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return fmt.Errorf("there is no member %q; `kubectl fleetscale status` lists them", name)
	case apierrors.IsNotFound(err):
		return errors.New("the hub does not serve members.fleetscale.io: is this the hub (--context)? If so, apply the manifests of " +
			"deploy/ there")
	case apierrors.IsServiceUnavailable(err):
		return fmt.Errorf("nobody serves members.fleetscale.io at present: is the metrics adapter running? "+
			"`kubectl describe apiservice v1alpha1.%s` says more: %w", v1alpha1.GroupName, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w; the ClusterRole fleetscale-members-reader has that right", err)
	}
	return fmt.Errorf("listing members: %w", err)
}

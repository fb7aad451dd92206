// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"context"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// key is one question as a member is asked it.
type key struct {
	// resource is "pods" or "nodes".
	resource string
	// namespace is empty for nodes, and for the pods of all namespaces.
	namespace string
	// selector is empty but for members whose items bear no labels by which we could select.
	selector string
}

const (
	podsResource  = "pods"
	nodesResource = "nodes"
)

// fetch asks a member until ctx ends. Errors are as the member's client gives them, or a
// *fleet.Silence for an answer that cannot be read.
func (k key) fetch(ctx context.Context, client rest.Interface, reading *connection.Reading) (*Batch, error) {
	request := client.Get().
		AbsPath("apis", "metrics.k8s.io", "v1beta1").
		NamespaceIfScoped(k.namespace, k.namespace != "").
		Resource(k.resource).
		SetHeader("Accept", accept)
	if k.selector != "" {
		request.Param("labelSelector", k.selector)
	}
	var contentType string
	body, err := request.Do(ctx).ContentType(&contentType).Raw()
	if err != nil {
		return nil, err
	}
	batch, err := connection.Decode(ctx, reading, body, k.check(contentType), func(body []byte) (*Batch, error) {
		return k.decode(body, contentType)
	})
	if err != nil {
		return nil, err
	}
	if err := reading.Measured(k.resource, batch.dropped); err != nil {
		return nil, err
	}
	return batch, nil
}

func (k key) decode(body []byte, contentType string) (*Batch, error) {
	if k.resource == nodesResource {
		return k.decodeNodes(body, contentType)
	}
	return k.decodePods(body, contentType)
}

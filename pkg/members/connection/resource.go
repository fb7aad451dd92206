// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// At leads a request to the objects of one kind in a namespace; empty: in all, or of a kind that has none. The answer is to be JSON.
func At(request *rest.Request, resource schema.GroupVersionResource, namespace string) *rest.Request {
	root := []string{"/apis", resource.Group, resource.Version}
	if resource.Group == "" {
		root = []string{"/api", resource.Version}
	}
	return request.AbsPath(root...).NamespaceIfScoped(namespace, namespace != "").Resource(resource.Resource).
		SetHeader("Accept", runtime.ContentTypeJSON)
}

// Answer sends a request. An error has the words of the cluster, which Raw alone leaves out.
func Answer(ctx context.Context, request *rest.Request) ([]byte, error) {
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

// DecodeJSON decodes an answer into an object of nobody else's, as [Decode] does.
func DecodeJSON[O any](ctx context.Context, r *Reading, answer []byte, into O) (O, error) {
	return Decode(ctx, r, answer, TypeOf(into).JSON, func(answer []byte) (O, error) { return into, json.Unmarshal(answer, into) })
}

// DecodeKind decodes an answer, which must be of the kind: of any other it would read that everything is lacking.
func DecodeKind[O runtime.Object](ctx context.Context, r *Reading, answer []byte, into O, kind string) (O, error) {
	return Decode(ctx, r, answer, TypeOf(into).JSON, func(answer []byte) (O, error) {
		if err := json.Unmarshal(answer, into); err != nil {
			return into, BadAnswer("decoding a "+kind, err)
		}
		if got := into.GetObjectKind().GroupVersionKind().Kind; got != kind {
			return into, fleet.Silencef(fleet.ReasonBadAnswer, "decoding a %s: it is of kind %q", kind, got)
		}
		return into, nil
	})
}

// Delete sends a deletion.
func Delete(ctx context.Context, request *rest.Request, o metav1.DeleteOptions) error {
	o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}
	body, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encoding a deletion: %w", err)
	}
	return request.SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(ctx).Error()
}

// NamespaceFault is in place of an error of writing to a namespace that cannot be written to; nil: the namespace is not to blame.
func NamespaceFault(err error, namespace string) error {
	var status apierrors.APIStatus
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return fmt.Errorf("namespace %q is being deleted in the cluster", namespace)
	case apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil &&
		status.Status().Details.Kind == "namespaces":
		return fmt.Errorf("namespace %q does not exist in the cluster; create it there", namespace)
	}
	return nil
}

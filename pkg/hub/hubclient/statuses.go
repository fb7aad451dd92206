// SPDX-License-Identifier: Apache-2.0

package hubclient

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// accept asks for the metadata alone; a server that does not know how sends the whole object.
const accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

// sparing is a client as any, but for updates of statuses: it does not read back what it has just written. A controller that
// writes hundreds of them per second would spend more on the answers than on the writes.
type sparing struct {
	client.Client

	rest       rest.Interface
	codecs     runtime.NegotiatedSerializer
	json       runtime.Encoder
	validation string
}

// NewClient is a [client.NewClientFunc]. Of a client that it returns, Status().Update writes nothing to the object but
// its new resourceVersion.
func NewClient(config *rest.Config, o client.Options) (client.Client, error) {
	whole, err := client.New(config, o)
	if err != nil {
		return nil, err
	}
	codecs := serializer.NewCodecFactory(o.Scheme).WithoutConversion()
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = codecs
	unversioned, err := rest.UnversionedRESTClientForConfigAndClient(config, o.HTTPClient)
	if err != nil {
		return nil, fmt.Errorf("preparing to write statuses: %w", err)
	}
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	return &sparing{whole, unversioned, codecs, info.Serializer, o.FieldValidation}, nil
}

// Status returns a writer of statuses.
func (s *sparing) Status() client.SubResourceWriter { return statusWriter{s.Client.Status(), s} }

type statusWriter struct {
	client.SubResourceWriter

	hub *sparing
}

// Update writes the status of an object, if it is still of its resourceVersion.
func (w statusWriter) Update(ctx context.Context, object client.Object, opts ...client.SubResourceUpdateOption) error {
	request, err := w.hub.put(object, opts)
	if err != nil {
		return err
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return err
	}
	body, err := result.Raw()
	if err != nil {
		return err
	}
	var stored struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.Unmarshal(body, &stored); err != nil {
		return fmt.Errorf("reading what the hub answers to a status: %w", err)
	}
	object.SetResourceVersion(stored.Metadata.ResourceVersion)
	return nil
}

func (s *sparing) put(object client.Object, opts []client.SubResourceUpdateOption) (*rest.Request, error) {
	kind, err := s.GroupVersionKindFor(object)
	if err != nil {
		return nil, err
	}
	mapping, err := s.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	body, err := runtime.Encode(s.codecs.EncoderForVersion(s.json, kind.GroupVersion()), object)
	if err != nil {
		return nil, fmt.Errorf("encoding a %s: %w", kind.Kind, err)
	}
	o := (&client.SubResourceUpdateOptions{}).ApplyOptions(opts).AsUpdateOptions()
	if o.FieldValidation == "" {
		o.FieldValidation = s.validation
	}
	return s.rest.Put().AbsPath("/apis", kind.Group, kind.Version).Namespace(object.GetNamespace()).
		Resource(mapping.Resource.Resource).Name(object.GetName()).SubResource("status").
		SpecificallyVersionedParams(o, metav1.ParameterCodec, metav1.SchemeGroupVersion).
		SetHeader("Accept", accept).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body), nil
}

// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// encode writes an object as an API server does.
func encode(t testing.TB, scheme *runtime.Scheme, kind string, object runtime.Object) []byte {
	t.Helper()
	info, found := runtime.SerializerInfoForMediaType(serializer.NewCodecFactory(scheme).SupportedMediaTypes(), kind)
	if !found {
		t.Fatalf("no serializer for %s", kind)
	}
	kinds, _, err := scheme.ObjectKinds(object)
	if err != nil {
		t.Fatal(err)
	}
	body, err := runtime.Encode(serializer.NewCodecFactory(scheme).EncoderForVersion(info.Serializer, kinds[0].GroupVersion()), object)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

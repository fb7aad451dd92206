// SPDX-License-Identifier: Apache-2.0

// Package hubtest has a hub for tests of what reads and writes objects there.
package hubtest

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/fleetscale/fleetscale/pkg/claims/index"
)

// NewBuilder builds a hub that serves the kinds of the scheme. For each that is built the library would put together all kinds of
// Kubernetes, to know by which keys their lists are merged. That takes more than most tests, and none of them merges lists.
func NewBuilder(scheme *runtime.Scheme) *fake.ClientBuilder {
	return fake.NewClientBuilder().WithScheme(scheme).WithTypeConverters(managedfields.NewDeducedTypeConverter())
}

// Indexed is a hub with these objects that finds autoscalers by what they scale; as adds the kinds to a scheme.
func Indexed(t testing.TB, as func(*runtime.Scheme) error, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := as(scheme); err != nil {
		t.Fatal(err)
	}
	builder := NewBuilder(scheme).WithObjects(objects...)
	for _, kind := range index.Kinds() {
		builder = builder.WithIndex(kind, index.ByName, index.Names)
	}
	return builder.Build()
}

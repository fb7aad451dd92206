// SPDX-License-Identifier: Apache-2.0

// Package hubtest has a hub for tests of what reads and writes objects there.
package hubtest

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// NewBuilder builds a hub that serves the kinds of the scheme. For each that is built the library would put together all kinds of
// Kubernetes, to know by which keys their lists are merged. That takes more than most tests, and none of them merges lists.
func NewBuilder(scheme *runtime.Scheme) *fake.ClientBuilder {
	return fake.NewClientBuilder().WithScheme(scheme).WithTypeConverters(managedfields.NewDeducedTypeConverter())
}

// SPDX-License-Identifier: Apache-2.0

// Package karmada_test names what Karmada's own end-to-end tests import beyond its programs. They are built from here, so go.mod has
// to know it.
package karmada_test

import (
	_ "sigs.k8s.io/kind/pkg/cluster"
)

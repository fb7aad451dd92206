// SPDX-License-Identifier: Apache-2.0

// Package skew runs the built programs where the hub and its members are of different minor versions of Kubernetes, the newest of which
// is two ahead of the oldest: docs/support.md has the matrix. In each combination a short story is told of all that the programs do.
//
// Control planes of other versions take minutes to build, so this is in the long form only: make test-full PARTS=skew.
package skew

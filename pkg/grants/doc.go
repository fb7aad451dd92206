// SPDX-License-Identifier: Apache-2.0

// Package grants has what deploy/ grants to whom, read from its manifests, and so which rights our programs need in a member. Whether
// they have them is asked elsewhere.
package grants

// SPDX-License-Identifier: Apache-2.0

// Package memory bounds what is kept of members' answers, in bytes, over all members and APIs.
//
// Tenants are the namespaces that answers are about, since rights are given by namespace: where there is more than the
// bound, the namespace of which the most is kept loses of its own what has not been used for the longest (pkg/shares).
// How many bytes something takes is an estimate by those who keep it, and may be more than it does where memory is shared.
package memory

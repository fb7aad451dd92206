// SPDX-License-Identifier: Apache-2.0

// Package compact holds what is kept of many Pods in little memory. Pods of one template share nearly all that is known
// of them, so it is packed into a text, and that is kept once for the whole process by package unique, which forgets it
// when the last of them goes.
package compact

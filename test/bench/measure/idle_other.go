// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package measure

// InIdleTime runs work: only Linux has priorities of threads.
func InIdleTime(work func()) { work() }

// SPDX-License-Identifier: Apache-2.0

//go:build !race

package member

const raceFactor = 1

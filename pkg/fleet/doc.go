// SPDX-License-Identifier: Apache-2.0

// Package fleet holds the words that every other package uses when it speaks
// of many clusters at once: what a member's silence is called ([Reason],
// [Silence]), what a question to several members brought back ([Answer]), and
// who took part in it ([Coverage]).
//
// One rule runs through it: a part is never passed off as the whole. Whoever
// holds an Answer holds each asked member in exactly one of its two maps, and
// whoever serves one says so to people (a Warning) and to machines (a header).
package fleet

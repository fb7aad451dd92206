// SPDX-License-Identifier: Apache-2.0

// Package pages has the pages that commands show in a browser, which are modules without libraries; all that comes from a hub or from a
// record is text to them.
//
//	files/        the dashboard, as it is served: index.html, what it loads, and modules that it has in common with
//	replay.html   what a replay comes to, which is only ever a file
//	one.go        puts a page, what it loads and what it shows into one file
package pages

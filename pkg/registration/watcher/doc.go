// SPDX-License-Identifier: Apache-2.0

// Package watcher keeps the hub's registrations of every source, and says when one came, changed or went.
//
// A source's API may come and go, but for the core API; while the hub serves it its objects are watched. Beside them
// the Secrets are watched that they refer to, each by its own name, so that nobody needs to grant us all Secrets of a
// namespace. A change of either is a change of the registration.
//
// A shared informer costs some 80 KiB and a dozen goroutines, and there may be one for each registration. So the objects
// are kept by reflectors with a store of their own, and of each object only what its source has read.
package watcher

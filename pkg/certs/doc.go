// SPDX-License-Identifier: Apache-2.0

// Package certs issues and rotates a program's self-signed serving certificate,
// and makes the hub trust it.
//
// The certificate is in a Secret of the hub, which all replicas share. Its
// authority is written into the caBundle of what points the hub at the program:
// webhook configurations and APIServices, here called targets. It is replaced
// long before it expires, while requests come in:
//
//	issue    a pair with an authority of its own is stored beside the one in
//	         use, and its authority is added to every target
//	wait     until every target has had it for a while, so that every API
//	         server of the hub has seen it
//	promote  the new pair is stored as the one in use; each replica serves it
//	         once it sees that
//	forget   an authority leaves the targets when the only certificate that it
//	         ever signed has expired, so no replica can be serving that
//
// So whatever certificate a replica serves, and however late an API server
// reads its configuration, the one trusts the other. There is no leader: every
// replica does all of this, and the losing writer gets a conflict and retries.
// The key of an authority is never kept.
//
// Certificates of files or of cert-manager need none of this.
package certs

// SPDX-License-Identifier: Apache-2.0

// Dist makes a release of the checkout that it is given: programs, images, manifests, Helm charts, and what tells where they come
// from. It needs Go and git, and neither Docker nor a base image. The same commit and version of Go give the same bytes, wherever and
// whenever: every time in them is the commit's, and every list is in order.
//
//	dist build -root FOLDER -out FOLDER [-registry ghcr.io/fleetscale] [-here]
//	dist push -out FOLDER
//	dist manifests -root FOLDER -out FOLDER [-registry ghcr.io/fleetscale]
//
// The last makes no programs and no images: only what is applied to clusters, in seconds.
//
// With -here it is what one can try on this machine, in a fraction of the time: programs and images for its processor only.
//
// The version is what the programs themselves say, which Go reads from the tag or the commit.
//
// What images hold beside a program: authorities of the web, for members with certificates of one of them, from
// golang.org/x/crypto/x509roots, which is Mozilla's list as a Go module, so that go.sum pins it and updates are proposed as for any
// other module; and licences. Time zones are in the programs, by time/tzdata.
package main

// SPDX-License-Identifier: Apache-2.0

// Package deploy holds those of the manifests beside it that programs apply or read, so that there is one copy of them.
package deploy

import "embed"

// Member are the kustomizations of what a member grants.
//
//go:embed member member-write member-create member-sizes member-namespaced
var Member embed.FS

// Hub is what the hub grants to each of our programs.
//
//go:embed base/hub base/webhook-hub base/controller-manager-hub
var Hub embed.FS

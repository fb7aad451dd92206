// SPDX-License-Identifier: Apache-2.0

package main

import "runtime"

const (
	homepage = "https://github.com/fleetscale/fleetscale"
	// home is the registry that deploy/ names.
	home = "ghcr.io/fleetscale"
)

// plan is what a release is made of.
type plan struct {
	root     string // the checkout: the folder of the product's module
	out      string // the folder to write
	registry string // images are REGISTRY/PROGRAM
	// programs of cmd/ that run in clusters, each of them an image, and the platforms of these, all of linux.
	programs       []string
	imagePlatforms []platform
	// plugin is the program of cmd/ that people run, on these platforms.
	plugin          string
	pluginPlatforms []platform
}

// platform is one that Go builds for, in Go's words.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "_" + p.arch }

// here is the part of a plan that this machine can try: programs and images for its processor, and the plugin for its system.
func (p plan) here() plan {
	p.imagePlatforms = []platform{{"linux", runtime.GOARCH}}
	p.pluginPlatforms = []platform{{runtime.GOOS, runtime.GOARCH}}
	return p
}

// release is the plan of a release of the product.
var release = plan{
	registry:       home,
	programs:       []string{"controller-manager", "dashboard", "metrics-adapter", "webhook"},
	imagePlatforms: []platform{{"linux", "amd64"}, {"linux", "arm64"}},
	plugin:         "kubectl-fleetscale",
	pluginPlatforms: []platform{
		{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"},
	},
}

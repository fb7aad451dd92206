// SPDX-License-Identifier: Apache-2.0

package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/krew/pkg/constants"
	"sigs.k8s.io/krew/pkg/index"
	"sigs.k8s.io/yaml"
)

// packed is a binary in the archive that people download.
type packed struct {
	binary
	archive string // its file's name
	hash    string // its SHA-256
}

// krew is the manifest by which kubectl krew installs the plugin from the files of a release.
func krew(version string, plugins []packed) ([]byte, error) {
	plugin := index.Plugin{
		TypeMeta:   metav1.TypeMeta{APIVersion: constants.CurrentAPIVersion, Kind: constants.PluginKind},
		ObjectMeta: metav1.ObjectMeta{Name: "fleetscale"},
		Spec: index.PluginSpec{
			Version:          version,
			Homepage:         homepage,
			ShortDescription: "Autoscale workloads over many clusters",
			Description: "Joins clusters to a fleet, shows its members and autoscalers, explains what these decided and why, and takes over and\n" +
				"restores the APIs of metrics. The programs of the hub are installed by manifests: " + homepage + "/blob/main/docs/install.md\n",
		},
	}
	for _, p := range plugins {
		plugin.Spec.Platforms = append(plugin.Spec.Platforms, index.Platform{
			URI:      homepage + "/releases/download/" + version + "/" + p.archive,
			Sha256:   p.hash,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"os": p.platform.os, "arch": p.platform.arch}},
			Files:    []index.FileOperation{{From: p.file(), To: "."}, {From: "licenses/*", To: "."}},
			Bin:      p.file(),
		})
	}
	return yaml.Marshal(plugin)
}

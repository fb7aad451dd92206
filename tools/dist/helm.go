// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/fleetscale/fleetscale/tools/dist/charts"
)

// helmCharts are the files of each chart, by the name of its package, as `helm package` has them.
func helmCharts(checkout fs.FS, version, registry string, images []image) (map[string][]file, error) {
	memory := filesys.MakeFsInMemory()
	if _, err := load(memory, checkout); err != nil {
		return nil, err
	}
	release := charts.Release{Version: version, Registry: registry, Tag: tag(version), Digests: map[string]string{}}
	for _, i := range images {
		if pin := i.pin(); pin != "" {
			release.Digests[i.program] = pin
		}
	}
	made, err := charts.Make(memory, checkout, release)
	if err != nil {
		return nil, err
	}
	packages := map[string][]file{}
	for name, of := range made {
		var files []file
		for path, text := range of {
			files = append(files, file{name + "/" + path, 0o644, text})
		}
		packages[name+"-"+strings.TrimPrefix(version, "v")+".tgz"] = files
	}
	return packages, nil
}

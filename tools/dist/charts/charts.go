// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Release is what charts are made for.
type Release struct {
	Version  string            // v1.2.3
	Registry string            // images are REGISTRY/PROGRAM
	Tag      string            // of the images
	Digests  map[string]string // of the images, by program; without them they are known by their tag only
}

// Make returns the files of each chart, by its name and theirs. Memory has what kustomize builds from the checkout.
func Make(memory filesys.FileSystem, checkout fs.FS, r Release) (map[string]map[string][]byte, error) {
	hub, member := &builder{memory: memory}, &builder{memory: memory}
	if err := hub.apply(hubOptions()); err != nil {
		return nil, err
	}
	if err := errors.Join(hub.place(), hub.spare("fleetscale-system")); err != nil {
		return nil, err
	}
	if err := errors.Join(member.apply(memberOptions()), member.spare("fleetscale-member")); err != nil {
		return nil, err
	}
	crds, err := customResourceDefinitions(memory)
	if err != nil {
		return nil, err
	}
	all := map[string]map[string][]byte{}
	for name, of := range map[string]struct {
		*builder
		prelude string
		crds    []byte
	}{
		"fleetscale":        {hub, hubPrelude, crds},
		"fleetscale-member": {member, "", nil},
	} {
		files, err := of.templates(of.prelude)
		if err != nil {
			return nil, fmt.Errorf("chart %s: %w", name, err)
		}
		if of.crds != nil {
			files["crds/crds.yaml"] = of.crds
		}
		if err := readChart(files, checkout, name, r); err != nil {
			return nil, fmt.Errorf("chart %s: %w", name, err)
		}
		all[name] = files
	}
	return all, nil
}

// customResourceDefinitions are the kinds, in the folder of a chart that Helm installs at first and never deletes: with a kind go
// all its objects.
func customResourceDefinitions(memory filesys.FileSystem) ([]byte, error) {
	objects, err := build(memory, resources("deploy/crds"))
	if err != nil {
		return nil, err
	}
	text := []byte("# SPDX-License-Identifier: Apache-2.0\n")
	for _, o := range objects {
		one, err := yaml.Marshal(o)
		if err != nil {
			return nil, err
		}
		text = append(append(text, "---\n"...), one...)
	}
	return text, nil
}

// readChart adds what the checkout has of a chart, and the licence.
func readChart(files map[string][]byte, checkout fs.FS, name string, r Release) error {
	folder := "deploy/charts/" + name
	err := fs.WalkDir(checkout, folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(checkout, file)
		files[strings.TrimPrefix(file, folder+"/")] = text
		return err
	})
	if err != nil {
		return err
	}
	if files["LICENSE"], err = fs.ReadFile(checkout, "LICENSE"); err != nil {
		return err
	}
	files["values.yaml"] = bytes.ReplaceAll(files["values.yaml"], []byte("registry: "+home+"\n"), []byte("registry: "+r.Registry+"\n"))
	files["Chart.yaml"], err = metadata(files["Chart.yaml"], r)
	return err
}

// home is the registry that deploy/ names.
const home = "ghcr.io/fleetscale"

// metadata is a Chart.yaml of a version. The digests stand there and not among the values: who sets another tag means another image.
func metadata(text []byte, r Release) ([]byte, error) {
	var chart map[string]any
	if err := yaml.Unmarshal(text, &chart); err != nil {
		return nil, err
	}
	chart["version"] = strings.TrimPrefix(r.Version, "v")
	chart["appVersion"] = r.Tag
	annotations, _ := chart["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
	}
	for program, digest := range r.Digests {
		annotations["fleetscale.io/digest-of-"+program] = digest
	}
	if len(annotations) > 0 {
		chart["annotations"] = annotations
	}
	made, err := yaml.Marshal(chart)
	return append([]byte("# SPDX-License-Identifier: Apache-2.0\n"), made...), err
}

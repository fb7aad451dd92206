// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// manifests builds each kustomization of deploy/ that people apply, with images pinned by their digests, to one file: by its name.
func manifests(checkout fs.FS, version string, images []image) (map[string][]byte, error) {
	memory := filesys.MakeFsInMemory()
	ways, err := load(memory, checkout)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, way := range ways {
		text, err := manifest(memory, way, version, images)
		if err != nil {
			return nil, fmt.Errorf("building deploy/%s: %w", way, err)
		}
		files[installFile(way)] = text
	}
	return files, nil
}

// load copies what kustomizations are made of, and returns those that people apply, as folders of deploy/.
func load(to filesys.FileSystem, checkout fs.FS) (ways []string, err error) {
	for _, top := range []string{"deploy", "certs"} {
		err := fs.WalkDir(checkout, top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(name) != ".yaml" && path.Ext(name) != ".json" {
				return err
			}
			content, err := fs.ReadFile(checkout, name)
			if err != nil {
				return err
			}
			if way := strings.TrimPrefix(path.Dir(name), "deploy/"); path.Base(name) == "kustomization.yaml" && isWay(way) {
				ways = append(ways, way)
			}
			return to.WriteFile("/"+name, content)
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(ways)
	return ways, nil
}

// checkTags refuses manifests whose images are of another version: kubectl apply -k of a tag installs that version.
func checkTags(checkout fs.FS, version string) error {
	tags, err := tagsOf(checkout)
	if err != nil {
		return err
	}
	var errs []error
	for _, t := range tags {
		if t.image.NewTag != tag(version) {
			errs = append(errs, fmt.Errorf("%s: newTag of %s must be %s, got %s", t.file, t.image.Name, tag(version), t.image.NewTag))
		}
	}
	return errors.Join(errs...)
}

// taggedVersion is that of the images which deploy/ names.
func taggedVersion(checkout fs.FS) (string, error) {
	tags, err := tagsOf(checkout)
	if err != nil {
		return "", err
	}
	if len(tags) == 0 {
		return "", errors.New("deploy/base names no images")
	}
	version := tags[0].image.NewTag
	return version, checkTags(checkout, version)
}

// tagged is an image of deploy/, and where its tag is set.
type tagged struct {
	file  string
	image types.Image
}

func tagsOf(checkout fs.FS) (all []tagged, err error) {
	files, err := fs.Glob(checkout, "deploy/base/*/kustomization.yaml")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := fs.ReadFile(checkout, file)
		if err != nil {
			return nil, err
		}
		var base types.Kustomization
		if err := yaml.Unmarshal(text, &base); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		for _, i := range base.Images {
			all = append(all, tagged{file, i})
		}
	}
	return all, nil
}

// isWay reports whether people apply this folder of deploy/: base/ and components/ are parts of what they do.
func isWay(folder string) bool {
	top, _, _ := strings.Cut(folder, "/")
	return top == "crds" || top == "overlays" || strings.HasPrefix(top, "member")
}

// installFile is the file for a folder of deploy/: install-karmada-host.yaml for overlays/karmada/host.
func installFile(way string) string {
	return "install-" + strings.ReplaceAll(strings.TrimPrefix(way, "overlays/"), "/", "-") + ".yaml"
}

func manifest(memory filesys.FileSystem, way, version string, images []image) ([]byte, error) {
	const folder = "/release"
	top := types.Kustomization{
		TypeMeta:  types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
		Resources: []string{"../deploy/" + way},
	}
	for _, i := range images {
		top.Images = append(top.Images, types.Image{
			Name: home + "/" + i.program, NewName: i.repository, NewTag: i.tag, Digest: i.pin(),
		})
	}
	text, err := yaml.Marshal(top)
	if err != nil {
		return nil, err
	}
	if err := memory.WriteFile(folder+"/kustomization.yaml", text); err != nil {
		return nil, err
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, folder)
	if err != nil {
		return nil, err
	}
	objects, err := built.AsYaml()
	if err != nil {
		return nil, err
	}
	head := "# SPDX-License-Identifier: Apache-2.0\n" +
		"# fleetscale " + version + ", deploy/" + way + ": docs/install.md says when to apply it, and to what.\n"
	return append([]byte(head), objects...), nil
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
	slsa "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"sigs.k8s.io/krew/pkg/index"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

func (m made) read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(m.out, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Each file is what kubectl apply -k of its folder applies, but for the images, which it pins.
func testManifests(t *testing.T, m made) {
	pinned := m.pinned(t)
	image := regexp.MustCompile(`image: ` + home + `/([a-z-]+):\S+`)
	found, err := filepath.Glob(filepath.Join(m.out, "install-*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	folders := ways(t)
	if len(found) != len(folders) || len(found) < 20 {
		t.Errorf("%d files for %d folders", len(found), len(folders))
	}
	images := 0
	for _, folder := range folders {
		built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../deploy/"+folder)
		if err != nil {
			t.Fatal(err)
		}
		text, err := built.AsYaml()
		if err != nil {
			t.Fatal(err)
		}
		want := image.ReplaceAllStringFunc(string(text), func(line string) string {
			images++
			return "image: " + pinned[image.FindStringSubmatch(line)[1]].String()
		})
		file := "install-" + strings.ReplaceAll(strings.TrimPrefix(folder, "overlays/"), "/", "-") + ".yaml"
		head, got, _ := strings.Cut(string(m.read(t, file)), "to what.\n")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-%s +file):\n%s", file, folder, diff)
		}
		if !strings.Contains(head, "# fleetscale "+madeVersion+", deploy/"+folder+":") {
			t.Errorf("%s says of itself %s", file, head)
		}
	}
	if images < 9 {
		t.Errorf("%d images are named in deploy: are its files read as they are written?", images)
	}
}

// ways are all folders of deploy that hold a kustomization and are no part of others.
func ways(t *testing.T) (all []string) {
	t.Helper()
	for _, pattern := range []string{"crds", "member*", "member*/*", "member*/*/*", "overlays/*", "overlays/*/*"} {
		found, err := filepath.Glob("../../deploy/" + pattern + "/kustomization.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			all = append(all, filepath.ToSlash(filepath.Dir(strings.TrimPrefix(f, "../../deploy/"))))
		}
	}
	return all
}

func testModules(t *testing.T, m made) {
	roots, err := required(rootsModule)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		program string
		on      platform
		others  []string
	}{
		"a program with an image": {"webhook", m.imagePlatforms[0], []string{"pkg:golang/" + roots.Path + "@" + roots.Version}},
		"the plugin":              {m.plugin, m.pluginPlatforms[0], nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			id := tc.program + "_" + tc.on.String()
			content := unzip(t, filepath.Join(m.out, id+".tar.gz"))[binary{program: tc.program, platform: tc.on}.file()]
			info, err := buildinfo.Read(bytes.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			want := append(tc.others, "pkg:golang/stdlib@"+strings.TrimPrefix(runtime.Version(), "go"))
			for _, d := range info.Deps {
				want = append(want, "pkg:golang/"+d.Path+"@"+d.Version)
			}
			var bom cdx.BOM
			if err := cdx.NewBOMDecoder(bytes.NewReader(m.read(t, id+".cdx.json")), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range *bom.Components {
				got = append(got, c.PackageURL)
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" || len(info.Deps) == 0 {
				t.Errorf("modules (-of the program +listed):\n%s", diff)
			}
			file := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
			hash, err := hashOf(file)
			if err != nil {
				t.Fatal(err)
			}
			of := bom.Metadata.Component
			if of.Name != tc.program || of.Version != madeVersion || (*of.Hashes)[0].Value != hash {
				t.Errorf("it is the list of %s %s %v, want of %s", of.Name, of.Version, *of.Hashes, hash)
			}
			if bom.Metadata.Timestamp != "2026-12-01T10:00:00Z" || !strings.HasPrefix(bom.SerialNumber, "urn:uuid:") {
				t.Errorf("it is of %s, number %s", bom.Metadata.Timestamp, bom.SerialNumber)
			}
		})
	}
}

func testArchives(t *testing.T, m made) {
	files := unzip(t, filepath.Join(m.out, m.plugin+"_"+m.pluginPlatforms[0].String()+".tar.gz"))
	program := binary{program: m.plugin, platform: m.pluginPlatforms[0]}.file()
	if diff := cmp.Diff([]string{program, "licenses/LICENSE", "licenses/THIRD_PARTY"}, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if got := string(files["licenses/LICENSE"]); got != "ours\n" {
		t.Errorf("our licence is %q", got)
	}
	for _, of := range []string{"==== Go go1", "==== github.com/google/uuid v"} {
		if !strings.Contains(string(files["licenses/THIRD_PARTY"]), of) {
			t.Errorf("there is no licence for %s", of)
		}
	}
}

func testProvenance(t *testing.T, m made) {
	var statement intoto.Statement
	if err := protojson.Unmarshal(m.read(t, "provenance.intoto.json"), &statement); err != nil {
		t.Fatal(err)
	}
	if err := statement.Validate(); err != nil {
		t.Fatal(err)
	}
	want := hashes(t, m.out)
	delete(want, sumsFile)
	delete(want, "provenance.intoto.json")
	for _, ref := range m.pinned(t) {
		want[ref.Tag(madeVersion).String()] = strings.TrimPrefix(ref.DigestStr(), "sha256:")
	}
	got := map[string]string{}
	for _, s := range statement.Subject {
		got[s.Name] = s.Digest["sha256"]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("subjects (-want +got):\n%s", diff)
	}
	text, err := protojson.Marshal(statement.Predicate)
	if err != nil {
		t.Fatal(err)
	}
	var said slsa.Provenance
	if err := protojson.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	if err := said.Validate(); err != nil {
		t.Fatal(err)
	}
	from := said.BuildDefinition.ResolvedDependencies[0]
	if from.Uri != "git+https://github.com/fleetscale/fleetscale" || from.Digest["gitCommit"] != m.commit {
		t.Errorf("it is built from %s at %s, want commit %s", from.Uri, from.Digest, m.commit)
	}
	if got := said.BuildDefinition.InternalParameters.Fields["go"].GetStringValue(); got != runtime.Version() {
		t.Errorf("it is built with %s, want %s", got, runtime.Version())
	}
	if got := said.BuildDefinition.ExternalParameters.Fields["version"].GetStringValue(); got != madeVersion {
		t.Errorf("it is of version %s", got)
	}
}

func testKrew(t *testing.T, m made) {
	var plugin index.Plugin
	if err := yaml.UnmarshalStrict(m.read(t, "fleetscale.yaml"), &plugin); err != nil {
		t.Fatal(err)
	}
	if plugin.Name != "fleetscale" || plugin.Spec.Version != madeVersion || len(plugin.Spec.Platforms) != len(m.pluginPlatforms) {
		t.Fatalf("it is %s %s for %d platforms", plugin.Name, plugin.Spec.Version, len(plugin.Spec.Platforms))
	}
	for i, p := range plugin.Spec.Platforms {
		archive := path.Base(p.URI)
		if want := fmt.Sprintf("%s/releases/download/%s/%s", homepage, madeVersion, archive); p.URI != want {
			t.Errorf("it downloads %s, want %s", p.URI, want)
		}
		on := m.pluginPlatforms[i]
		if diff := cmp.Diff(map[string]string{"os": on.os, "arch": on.arch}, p.Selector.MatchLabels); diff != "" {
			t.Errorf("platform (-want +got):\n%s", diff)
		}
		if hash := hashes(t, m.out)[archive]; hash == "" || hash != p.Sha256 {
			t.Errorf("%s is of %s, and the manifest says %s", archive, hash, p.Sha256)
		}
		files := unzip(t, filepath.Join(m.out, archive))
		if len(files[p.Bin]) == 0 {
			t.Errorf("%s has no %s", archive, p.Bin)
		}
		for _, f := range p.Files {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(name string) bool { ok, _ := path.Match(f.From, name); return ok }) {
				t.Errorf("%s has no file %s", archive, f.From)
			}
		}
	}
}

// A checkout of a tag installs the images of that tag.
func TestTags(t *testing.T) {
	base := func(tag string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("images:\n- name: ghcr.io/fleetscale/webhook\n  newTag: " + tag + "\n")}
	}
	checkout := fstest.MapFS{"deploy/base/one/kustomization.yaml": base("v0.1.0"), "deploy/base/two/kustomization.yaml": base("v0.2.0")}
	err := checkTags(checkout, "v0.2.0")
	const want = "deploy/base/one/kustomization.yaml: newTag of ghcr.io/fleetscale/webhook must be v0.2.0, got v0.1.0"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	delete(checkout, "deploy/base/one/kustomization.yaml")
	if err := checkTags(checkout, "v0.2.0"); err != nil {
		t.Error(err)
	}
}

func TestNotes(t *testing.T) {
	const changelog = "# Changelog\n\nIn a form.\n\n## Unreleased\n\n### Added\n\n* Three ([cli](docs/cli.md)).\n\n" +
		"## [v0.2.0] - 2027-01-01\n\n* Two ([a](docs/a.md#b), [c](https://d.e/f#g), [h](#i)).\n\n## v0.1.0\n\n* One.\n\n## v0.0.1\n"
	const between = "v0.2.1-0.20270101000000-0123456789ab"
	const two = "* Two ([a](" + homepage + "/blob/v0.2.0/docs/a.md#b), [c](https://d.e/f#g), [h](#i)).\n"
	const three = "* Three ([cli](" + homepage + "/blob/main/docs/cli.md)).\n"
	tests := map[string]struct{ version, want, fault string }{
		"a version":                       {"v0.1.0", "# fleetscale v0.1.0\n\n* One.\n", ""},
		"one with a link and a date":      {"v0.2.0", "# fleetscale v0.2.0\n\n" + two, ""},
		"a commit between versions":       {between, "# fleetscale " + between + "\n\n### Added\n\n" + three, ""},
		"a version with changes after it": {"v0.1.0+dirty", "# fleetscale v0.1.0+dirty\n\n### Added\n\n" + three, ""},
		"a version of which nothing is said": {
			"v0.3.0", "", "CHANGELOG.md has nothing below a heading ## v0.3.0: write there what is new",
		},
		"a version of which nothing is told": {
			"v0.0.1", "", "CHANGELOG.md has nothing below a heading ## v0.0.1: write there what is new",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := notes(changelog, tc.version)
			if got != tc.want || (err == nil) != (tc.fault == "") || err != nil && err.Error() != tc.fault {
				t.Errorf("%q, error %v; want %q, error %q", got, err, tc.want, tc.fault)
			}
		})
	}
}

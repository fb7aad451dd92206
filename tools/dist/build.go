// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// build writes a release into its folder.
func build(ctx context.Context, say io.Writer, p plan) error {
	return into(p, say, func(m *maker, scratch string) error { return m.make(ctx, scratch) })
}

// buildManifests writes what of a release is applied to clusters, which needs no program to be built: images are those that deploy/ names,
// by their tag.
func buildManifests(ctx context.Context, say io.Writer, p plan) error {
	return into(p, say, func(m *maker, _ string) (err error) {
		if m.source, err = readSource(ctx, m.root); err != nil {
			return err
		}
		if m.version, err = taggedVersion(os.DirFS(m.root)); err != nil {
			return err
		}
		var images []image
		for _, program := range m.programs {
			images = append(images, image{program: program, repository: m.registry + "/" + program, tag: tag(m.version)})
		}
		if err := m.installable(images); err != nil {
			return err
		}
		made, err := sumsOf(m.folder)
		if err != nil {
			return err
		}
		fmt.Fprintf(m.say, "manifests and charts of %s, without digests of images: %d files in %s\n", m.version, len(made)+1, m.out)
		return m.write(sumsFile, sumsText(made))
	})
}

// into has a folder made, in place of one that is there: all of it, or nothing.
func into(p plan, say io.Writer, fill func(m *maker, scratch string) error) (err error) {
	p.out = filepath.Clean(p.out)
	if err := replaceable(p.out); err != nil {
		return err
	}
	parent := filepath.Dir(p.out)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	// Beside the release, since folders are renamed within one file system only.
	scratch, err := os.MkdirTemp(parent, "."+filepath.Base(p.out)+"-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	m := &maker{plan: p, say: say, folder: filepath.Join(scratch, "new")}
	if err := os.Mkdir(m.folder, 0o755); err != nil {
		return err
	}
	if err := fill(m, scratch); err != nil {
		return err
	}
	return replace(p.out, m.folder, filepath.Join(scratch, "old"))
}

// replace puts a folder in the place of another, if there is one, and that aside. If it cannot, all stays as it was.
func replace(out, made, aside string) error {
	err := os.Rename(out, aside)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Rename(made, out)
	}
	if err != nil {
		return err
	}
	if err := os.Rename(made, out); err != nil {
		return errors.Join(err, os.Rename(aside, out))
	}
	return nil
}

// replaceable refuses a folder of files that are no release.
func replaceable(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(folder, sumsFile)); err != nil {
		return fmt.Errorf("-out: %s holds files that are no release; name another folder, or empty it", folder)
	}
	return nil
}

// maker makes one release.
type maker struct {
	plan
	say    io.Writer
	folder string // of what is made
	source source
	env    []string // of all runs of Go
	places places
	roots  debug.Module // the module of the authorities
	base   v1.Layer
	// version is what the first program says that was built, and all others do, goVersion that of Go, and news what is new in it.
	version, goVersion, news string
}

func (m *maker) make(ctx context.Context, scratch string) (err error) {
	if m.source, err = readSource(ctx, m.root); err != nil {
		return err
	}
	if m.env, err = readEnvironment(ctx, m.root); err != nil {
		return err
	}
	if m.places, err = readPlaces(ctx, m.root, m.env); err != nil {
		return err
	}
	if m.roots, err = required(rootsModule); err != nil {
		return err
	}
	if m.base, err = baseLayer(m.source.time); err != nil {
		return err
	}
	var images []image
	for _, program := range m.programs {
		made, err := m.image(ctx, program, scratch)
		if err != nil {
			return err
		}
		images = append(images, made)
	}
	var plugins []packed
	for _, on := range m.pluginPlatforms {
		made, _, err := m.program(ctx, m.plugin, on, scratch)
		if err != nil {
			return err
		}
		plugins = append(plugins, made)
	}
	return m.papers(images, plugins)
}

// begin takes the version from the first program, and refuses one that the checkout does not know: before all others are built.
func (m *maker) begin(b binary) error {
	m.version, m.goVersion = b.version(), b.info.GoVersion
	checkout := os.DirFS(m.root)
	changelog, err := fs.ReadFile(checkout, "CHANGELOG.md")
	if err != nil {
		return err
	}
	m.news, err = notes(string(changelog), m.version)
	if isRelease(m.version) {
		err = errors.Join(err, checkTags(checkout, m.version))
	}
	return err
}

// image builds a program for all platforms of images, and makes its image of that.
func (m *maker) image(ctx context.Context, program, scratch string) (image, error) {
	var built []binary
	var rights [][]file
	for _, on := range m.imagePlatforms {
		made, licences, err := m.program(ctx, program, on, scratch, m.roots)
		if err != nil {
			return image{}, err
		}
		built, rights = append(built, made.binary), append(rights, licences)
	}
	made, err := newImage(m.registry, m.source, m.base, built, rights)
	if err != nil {
		return image{}, err
	}
	if err := writeLayout(filepath.Join(m.folder, program+layoutSuffix), made, m.source.time); err != nil {
		return image{}, err
	}
	fmt.Fprintln(m.say, made.pinned())
	return made, nil
}

// program builds a program for a platform, and writes its archive and what it is made of. Others are modules that come with it.
func (m *maker) program(ctx context.Context, program string, on platform, scratch string, others ...debug.Module) (packed, []file, error) {
	fmt.Fprintf(m.say, "Building %s for %s ...\n", program, on)
	b, err := compile(ctx, m.root, m.env, program, on, scratch)
	if err != nil {
		return packed{}, nil, err
	}
	if m.version == "" {
		if err := m.begin(b); err != nil {
			return packed{}, nil, err
		}
	}
	if m.version != b.version() {
		return packed{}, nil, fmt.Errorf("%s is of version %s, others of %s: change nothing meanwhile", b.id(), b.version(), m.version)
	}
	rights, err := licences(m.root, m.places, b, others...)
	if err != nil {
		return packed{}, nil, err
	}
	if err := m.describe(b, others); err != nil {
		return packed{}, nil, err
	}
	content, err := os.ReadFile(b.path)
	if err != nil {
		return packed{}, nil, err
	}
	made := packed{binary: b, archive: b.id() + ".tar.gz"}
	path := filepath.Join(m.folder, made.archive)
	if err := writeArchive(path, m.source.time, append([]file{{b.file(), 0o755, content}}, rights...)...); err != nil {
		return packed{}, nil, err
	}
	made.hash, err = hashOf(path)
	return made, rights, err
}

// describe writes what a binary is made of.
func (m *maker) describe(b binary, others []debug.Module) error {
	hash, err := hashOf(b.path)
	if err != nil {
		return err
	}
	text, err := sbom(b, hash, m.source, others...)
	if err != nil {
		return err
	}
	return m.write(b.id()+".cdx.json", text)
}

// papers writes what is no program: manifests and charts, notes, where all comes from, and the sums.
func (m *maker) papers(images []image, plugins []packed) error {
	if err := m.installable(images); err != nil {
		return err
	}
	plugin, err := krew(m.version, plugins)
	if err != nil {
		return err
	}
	var pinned []byte
	for _, i := range images {
		pinned = append(pinned, i.pinned()+"\n"...)
	}
	if err := errors.Join(m.write("fleetscale.yaml", plugin), m.write("NOTES.md", []byte(m.news)), m.write("images.txt", pinned)); err != nil {
		return err
	}
	return m.seal(images)
}

// installable writes what is applied to clusters, by kubectl and by Helm.
func (m *maker) installable(images []image) error {
	installs, err := manifests(os.DirFS(m.root), m.version, images)
	if err != nil {
		return err
	}
	for name, text := range installs {
		if err := m.write(name, text); err != nil {
			return err
		}
	}
	made, err := helmCharts(os.DirFS(m.root), m.version, m.registry, images)
	if err != nil {
		return err
	}
	for name, files := range made {
		if err := writeArchive(filepath.Join(m.folder, name), m.source.time, files...); err != nil {
			return err
		}
	}
	return nil
}

// seal writes the provenance of all that is there, and the sums of that and it.
func (m *maker) seal(images []image) error {
	made, err := sumsOf(m.folder)
	if err != nil {
		return err
	}
	statement, err := provenance(m.source, m.version, m.goVersion, m.registry, made, images)
	if err != nil {
		return err
	}
	if err := m.write("provenance.intoto.json", statement); err != nil {
		return err
	}
	if made, err = sumsOf(m.folder); err != nil {
		return err
	}
	if err := m.write(sumsFile, sumsText(made)); err != nil {
		return err
	}
	if isChanged(m.version) {
		fmt.Fprintln(m.say, "This is no release: files were changed after the commit, so that nobody can build the same.")
	}
	fmt.Fprintf(m.say, "fleetscale %s: %d files in %s\n", m.version, len(made)+1, m.out)
	return nil
}

func (m *maker) write(name string, content []byte) error {
	return os.WriteFile(filepath.Join(m.folder, name), content, 0o644)
}

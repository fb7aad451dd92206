// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is who a program runs as: the nonroot of deploy/, by number, since kubelets cannot tell that of a name.
const user = "65532:65532"

// image is that of a program, for all of its platforms.
type image struct {
	program    string
	repository string // REGISTRY/PROGRAM
	tag        string
	index      v1.ImageIndex
	digest     v1.Hash // of the index; empty for an image that is not built
}

// ref is by what name people pull it.
func (i image) ref() string { return i.repository + ":" + i.tag }

// pinned is what nobody can change: REGISTRY/PROGRAM:TAG@sha256:...
func (i image) pinned() string { return i.ref() + "@" + i.digest.String() }

// pin is the digest by which manifests name it, if there is one.
func (i image) pin() string {
	if i.digest == (v1.Hash{}) {
		return ""
	}
	return i.digest.String()
}

// newImage makes an image of a program's binaries, of which each has its licences.
func newImage(registry string, src source, base v1.Layer, binaries []binary, licences [][]file) (image, error) {
	about := annotations(binaries[0], src)
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for i, b := range binaries {
		one, err := platformImage(b, src.time, base, licences[i], about)
		if err != nil {
			return image{}, fmt.Errorf("making the image of %s: %w", b.id(), err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        one,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: b.platform.os, Architecture: b.platform.arch}},
		})
	}
	index = mutate.Annotations(index, about).(v1.ImageIndex) // which it is of what it is given
	digest, err := index.Digest()
	program, version := binaries[0].program, binaries[0].version()
	return image{program: program, repository: registry + "/" + program, tag: tag(version), index: index, digest: digest}, err
}

// annotations say of an image what OCI has words for.
func annotations(b binary, src source) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    b.program,
		"org.opencontainers.image.version":  b.version(),
		"org.opencontainers.image.revision": src.commit,
		"org.opencontainers.image.created":  src.time.Format(time.RFC3339),
		"org.opencontainers.image.source":   homepage,
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
}

func platformImage(b binary, at time.Time, base v1.Layer, licences []file, labels map[string]string) (v1.Image, error) {
	content, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	program, err := layer(at, slices.Concat([]file{{b.program, 0o755, content}}, licences)...)
	if err != nil {
		return nil, err
	}
	made := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, add := range []struct {
		layer v1.Layer
		what  string
	}{{base, "user and authorities"}, {program, b.program}} {
		made, err = mutate.Append(made, mutate.Addendum{Layer: add.layer, History: v1.History{Created: v1.Time{Time: at}, CreatedBy: add.what}})
		if err != nil {
			return nil, err
		}
	}
	config, err := made.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = b.platform.os, b.platform.arch, v1.Time{Time: at}
	config.Config = v1.Config{User: user, Entrypoint: []string{"/" + b.program}, WorkingDir: "/", Labels: labels}
	return mutate.ConfigFile(made, config)
}

// baseLayer is what all images have below their program.
func baseLayer(at time.Time) (v1.Layer, error) {
	return layer(at,
		file{"etc/passwd", 0o644, []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
		file{"etc/group", 0o644, []byte("root:x:0:\nnonroot:x:65532:\n")},
		file{"etc/ssl/certs/ca-certificates.crt", 0o644, roots(bundle.Roots())},
	)
}

func layer(at time.Time, files ...file) (v1.Layer, error) {
	var text bytes.Buffer
	if err := archive(&text, at, files...); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.DefaultCompression), tarball.WithCompressedCaching)
}

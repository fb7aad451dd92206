// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"debug/elf"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/sigstore/sigstore/pkg/signature/payload"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// pinned are the images of a release, as it names them, by program.
func (m made) pinned(t *testing.T) map[string]name.Digest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(m.out, "images.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]name.Digest{}
	for line := range strings.Lines(string(text)) {
		ref, err := name.NewDigest(strings.TrimSpace(line), name.StrictValidation)
		if err != nil {
			t.Fatal(err)
		}
		all[ref.RepositoryStr()[strings.LastIndex(ref.RepositoryStr(), "/")+1:]] = ref
	}
	return all
}

func (m made) push(t *testing.T) {
	t.Helper()
	var said strings.Builder
	if err := push(t.Context(), &said, m.out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(m.out, "images.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), said.String()); diff != "" {
		t.Errorf("pushed (-images.txt +said):\n%s", diff)
	}
}

func testImages(t *testing.T, m made) {
	m.push(t)
	all := m.pinned(t)
	if diff := cmp.Diff(m.programs, slices.Sorted(maps.Keys(all))); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	for program, ref := range all {
		t.Run(program, func(t *testing.T) {
			tagged, err := remote.Index(ref.Tag(madeVersion), remote.WithContext(t.Context()))
			if err != nil {
				t.Fatal(err)
			}
			if digest, err := tagged.Digest(); err != nil || digest.String() != ref.DigestStr() {
				t.Errorf("tag %s is of %s, error %v; want %s", madeVersion, digest, err, ref.DigestStr())
			}
			if err := validate.Index(tagged); err != nil {
				t.Errorf("what came back is broken: %v", err)
			}
			manifest, err := tagged.IndexManifest()
			if err != nil {
				t.Fatal(err)
			}
			if len(manifest.Manifests) != 1 || manifest.MediaType != types.OCIImageIndex {
				t.Fatalf("it is %s of %d images", manifest.MediaType, len(manifest.Manifests))
			}
			described := manifest.Manifests[0]
			if diff := cmp.Diff(&v1.Platform{OS: "linux", Architecture: runtime.GOARCH}, described.Platform); diff != "" {
				t.Errorf("platform (-want +got):\n%s", diff)
			}
			one, err := tagged.Image(described.Digest)
			if err != nil {
				t.Fatal(err)
			}
			testConfig(t, m, program, one, manifest.Annotations)
			testFiles(t, m, program, one)
		})
	}
}

// testConfig holds an image to what kubelets and people go by.
func testConfig(t *testing.T, m made, program string, one v1.Image, about map[string]string) {
	config, err := one.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{
		"org.opencontainers.image.title": program, "org.opencontainers.image.version": madeVersion,
		"org.opencontainers.image.revision": m.commit, "org.opencontainers.image.created": "2026-12-01T10:00:00Z",
		"org.opencontainers.image.source": homepage, "org.opencontainers.image.licenses": "Apache-2.0",
	}
	want := v1.Config{User: "65532:65532", Entrypoint: []string{"/" + program}, WorkingDir: "/", Labels: labels}
	if diff := cmp.Diff(want, config.Config); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(labels, about); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if config.OS != "linux" || config.Architecture != runtime.GOARCH || config.Created.Format("15:04") != "10:00" {
		t.Errorf("it is of %s/%s, %s", config.OS, config.Architecture, config.Created)
	}
	manifest, err := one.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	kinds := []types.MediaType{manifest.MediaType, manifest.Config.MediaType}
	for _, l := range manifest.Layers {
		kinds = append(kinds, l.MediaType)
	}
	wantKinds := []types.MediaType{types.OCIManifestSchema1, types.OCIConfigJSON, types.OCILayer, types.OCILayer}
	if diff := cmp.Diff(wantKinds, kinds); diff != "" {
		t.Errorf("media types (-want +got):\n%s", diff)
	}
}

// testFiles: the program, who it runs as, whom it trusts, and licences. No shell, and nothing else that an intruder could use.
func testFiles(t *testing.T, m made, program string, one v1.Image) {
	flat := mutate.Extract(one)
	defer flat.Close()
	files := untar(t, flat)
	want := []string{"etc/group", "etc/passwd", "etc/ssl/certs/ca-certificates.crt", "licenses/LICENSE", "licenses/THIRD_PARTY", program}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Fatalf("files (-want +got):\n%s", diff)
	}
	static, err := elf.NewFile(bytes.NewReader(files[program]))
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(static.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Error("the program needs a loader, which the image has not")
	}
	if !x509.NewCertPool().AppendCertsFromPEM(files["etc/ssl/certs/ca-certificates.crt"]) {
		t.Error("it trusts nobody")
	}
	packed := unzip(t, filepath.Join(m.out, program+"_linux_"+runtime.GOARCH+".tar.gz"))
	if !bytes.Equal(packed[program], files[program]) {
		t.Error("its program is not that of the archive")
	}
}

// What an image trusts are the authorities of the web, each once.
func TestRoots(t *testing.T) {
	seen := map[string]bool{}
	for _, root := range parsed(t, roots(bundle.Roots())) {
		if seen[string(root.Raw)] {
			t.Errorf("%s is there twice", root.Subject)
		}
		seen[string(root.Raw)] = true
	}
	if len(seen) < 100 {
		t.Errorf("%d authorities, want those of the web", len(seen))
	}
}

// A file of authorities cannot say that one is trusted for some certificates only, so that one is not in it.
func TestRootsWithConstraint(t *testing.T) {
	first, stop := iter.Pull(bundle.Roots())
	defer stop()
	whole, _ := first()
	some, _ := first()
	whole.Constraint, some.Constraint = nil, func([]*x509.Certificate) error { return nil }
	got := parsed(t, roots(slices.Values([]bundle.Root{some, whole})))
	if len(got) != 1 || !bytes.Equal(got[0].Raw, whole.Certificate) {
		t.Errorf("%d authorities, want the one without a constraint", len(got))
	}
}

func parsed(t *testing.T, text []byte) (all []*x509.Certificate) {
	t.Helper()
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return all
		}
		root, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, root)
	}
}

// cosign keeps signatures beside the image, as one of a tag made of its digest.
const (
	signatureKind       = "application/vnd.dev.cosign.simplesigning.v1+json"
	signatureAnnotation = "dev.cosignproject.cosign/signature"
)

var errOtherImage = errors.New("the signature is of another image")

func signatureTag(image name.Digest) name.Tag {
	return image.Tag(strings.Replace(image.DigestStr(), ":", "-", 1) + ".sig")
}

func testSignatures(t *testing.T, m made) {
	m.push(t)
	key, stranger := newKey(t), newKey(t)
	images := m.pinned(t)
	image, other := images["webhook"], images["metrics-adapter"]
	sign(t, key, image)
	if err := verify(t.Context(), &key.PublicKey, image); err != nil {
		t.Errorf("the image as signed: %v", err)
	}
	if err := verify(t.Context(), &stranger.PublicKey, image); err == nil {
		t.Error("a key that signed nothing verifies the image")
	}
	if err := verify(t.Context(), &key.PublicKey, other); err == nil {
		t.Error("an image that was not signed is verified")
	}
	move(t, signatureTag(image), signatureTag(other))
	if err := verify(t.Context(), &key.PublicKey, other); err == nil {
		t.Error("the signature of one image verifies another")
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign does what cosign sign --key does.
func sign(t *testing.T, key *ecdsa.PrivateKey, image name.Digest) {
	t.Helper()
	text, err := payload.Cosign{Image: image}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	signer, err := signature.LoadECDSASigner(key, crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.SignMessage(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	beside, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
		Layer:       static.NewLayer(text, signatureKind),
		Annotations: map[string]string{signatureAnnotation: base64.StdEncoding.EncodeToString(signed)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(signatureTag(image), beside, remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// verify does what cosign verify --key does: somebody with that key has signed this image, by its digest.
func verify(ctx context.Context, key *ecdsa.PublicKey, image name.Digest) error {
	beside, err := remote.Image(signatureTag(image), remote.WithContext(ctx))
	if err != nil {
		return err
	}
	manifest, err := beside.Manifest()
	if err != nil {
		return err
	}
	described := manifest.Layers[0]
	layer, err := beside.LayerByDigest(described.Digest)
	if err != nil {
		return err
	}
	content, err := layer.Compressed()
	if err != nil {
		return err
	}
	defer content.Close()
	text, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	signed, err := base64.StdEncoding.DecodeString(described.Annotations[signatureAnnotation])
	if err != nil {
		return err
	}
	verifier, err := signature.LoadECDSAVerifier(key, crypto.SHA256)
	if err != nil {
		return err
	}
	if err := verifier.VerifySignature(bytes.NewReader(signed), bytes.NewReader(text)); err != nil {
		return err
	}
	var said payload.Cosign
	if err := said.UnmarshalJSON(text); err != nil {
		return err
	}
	if said.Image.DigestStr() != image.DigestStr() {
		return errOtherImage
	}
	return nil
}

func move(t *testing.T, from, to name.Tag) {
	t.Helper()
	image, err := remote.Image(from, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(to, image, remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
}

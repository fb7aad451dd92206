// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
)

// made is a release of small programs, with the manifests of the product, tagged v1.2.3.
type made struct {
	plan
	commit string
	said   string
}

const madeVersion = "v1.2.3"

// What is asked of a release is asked of one: to build it takes most of the time.
func TestRelease(t *testing.T) {
	m := makeRelease(t)
	for name, test := range map[string]func(*testing.T, made){
		"another build gives the same bytes":       testSameBytes,
		"images come back as they were pushed":     testImages,
		"images can be signed and verified":        testSignatures,
		"manifests are those of deploy":            testManifests,
		"charts are of the same release":           testCharts,
		"the list of modules is that of a program": testModules,
		"archives hold a program and licences":     testArchives,
		"the provenance names everything":          testProvenance,
		"krew finds what it installs":              testKrew,
		"the sums are those of all files":          testSums,
	} {
		t.Run(name, func(t *testing.T) { test(t, m) })
	}
}

// small is a plan that builds little: for one platform.
func small(root, out, registry string) plan {
	p := release
	p.root, p.out, p.registry = root, out, registry
	return p.here()
}

func makeRelease(t *testing.T) made {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo))))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	root := filepath.Join(folder, "checkout")
	commit := checkout(t, root)
	var said strings.Builder
	p := small(root, filepath.Join(folder, "out"), strings.TrimPrefix(server.URL, "http://")+"/fleetscale")
	if err := build(t.Context(), &said, p); err != nil {
		t.Fatal(err)
	}
	return made{plan: p, commit: commit, said: said.String()}
}

// checkout makes a repository with programs of the product's names, each of one module, and a tag, and returns its commit.
func checkout(t *testing.T, root string) string {
	t.Helper()
	uuid, err := required("github.com/google/uuid")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	var sums strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, uuid.Path+" ") {
			sums.WriteString(line)
		}
	}
	write(t, root, "go.mod", "module github.com/fleetscale/fleetscale\n\ngo 1.26\n\nrequire "+uuid.Path+" "+uuid.Version+"\n")
	write(t, root, "go.sum", sums.String())
	write(t, root, "LICENSE", "ours\n")
	write(t, root, "CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n## "+madeVersion+" - 2026-12-01\n\n* It is small.\n")
	for _, program := range append([]string{release.plugin}, release.programs...) {
		write(t, root, "cmd/"+program+"/main.go",
			"package main\n\nimport (\n\t\"fmt\"\n\n\t\""+uuid.Path+"\"\n)\n\nfunc main() { fmt.Println(\""+program+"\", uuid.Nil) }\n")
	}
	for _, folder := range []string{"deploy", "certs"} {
		if err := os.CopyFS(filepath.Join(root, folder), os.DirFS("../../"+folder)); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []string{"adapter", "controller-manager", "dashboard", "webhook"} {
		file := "deploy/base/" + part + "/kustomization.yaml"
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		write(t, root, file, regexp.MustCompile(`newTag: \S+`).ReplaceAllString(string(text), "newTag: "+madeVersion))
	}
	git(t, root, "init", "-q")
	git(t, root, "add", "-A")
	git(t, root, "commit", "-q", "-m", "all")
	git(t, root, "tag", madeVersion)
	return git(t, root, "rev-parse", "HEAD")
}

func write(t *testing.T, root, name, content string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// git runs it as somebody without settings.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=2026-12-01T10:00:00Z", "GIT_COMMITTER_DATE=2026-12-01T10:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Neither the folder, nor the hour, nor what somebody has set for Go is in what is built.
func testSameBytes(t *testing.T, m made) {
	folder := t.TempDir()
	root := filepath.Join(folder, "a folder of another length")
	git(t, folder, "clone", "-q", m.root, root)
	if !testing.Short() {
		t.Setenv("GOCACHE", filepath.Join(folder, "cache"))
	}
	t.Setenv("GOFLAGS", "-buildvcs=false -tags=other")
	t.Setenv("GOARM64", "v9.0")
	t.Setenv("GOAMD64", "v3")
	t.Setenv("GOFIPS140", "v1.0.0")
	t.Setenv("GODEBUG", "x509sha1=1")
	again := m.plan
	again.root, again.out = root, filepath.Join(folder, "out")
	if err := build(t.Context(), io.Discard, again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(hashes(t, m.out), hashes(t, again.out)); diff != "" {
		t.Errorf("two builds of one commit differ (-one +other):\n%s", diff)
	}
	for name, content := range unzip(t, filepath.Join(again.out, m.plugin+"_"+m.pluginPlatforms[0].String()+".tar.gz")) {
		if strings.Contains(string(content), folder) {
			t.Errorf("%s holds the path of the folder that it was built in", name)
		}
	}
}

// hashes are those of all files of a folder.
func hashes(t *testing.T, folder string) map[string]string {
	t.Helper()
	all, err := sumsOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]string{}
	for _, s := range all {
		by[s.name] = s.hash
	}
	return by
}

// unzip returns the files of a compressed archive.
func unzip(t *testing.T, path string) map[string][]byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return untar(t, zipped)
}

// untar returns the files of an archive; folders have no content and are left out.
func untar(t *testing.T, from io.Reader) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for in := tar.NewReader(from); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeDir {
			continue
		}
		if all[header.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
}

func testSums(t *testing.T, m made) {
	text, err := os.ReadFile(filepath.Join(m.out, sumsFile))
	if err != nil {
		t.Fatal(err)
	}
	want := hashes(t, m.out)
	delete(want, sumsFile)
	got := map[string]string{}
	for line := range strings.Lines(string(text)) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		got[name] = hash
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sums (-files +listed):\n%s", diff)
	}
	if last := fmt.Sprintf("\nfleetscale %s: %d files in %s\n", madeVersion, len(want)+1, m.out); !strings.HasSuffix(m.said, last) {
		t.Errorf("it says:\n%s", m.said)
	}
}

func TestWhatIsNotBuilt(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "notgit/go.mod", "module example.com/x\n")
	write(t, folder, "mine/letter.txt", "dear\n")
	write(t, folder, "out.new/letter.txt", "dear\n")
	tests := map[string]struct{ root, out, want string }{
		"a folder without git":         {"notgit", "out", "must be a git checkout"},
		"into a folder of other files": {"notgit", "mine", "holds files that are no release; name another folder, or empty it"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GIT_CEILING_DIRECTORIES", folder)
			err := build(t.Context(), io.Discard, small(filepath.Join(folder, tc.root), filepath.Join(folder, tc.out), home))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
	var left []string
	for _, name := range []string{"*", ".*", "*/letter.txt"} {
		found, err := filepath.Glob(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, found...)
	}
	for i := range left {
		left[i] = strings.TrimPrefix(left[i], folder+"/")
	}
	if diff := cmp.Diff([]string{"mine", "notgit", "out.new", "mine/letter.txt", "out.new/letter.txt"}, left); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

// A release that is there stays until another is in its place.
func TestReplace(t *testing.T) {
	tests := map[string]struct {
		files, want []string
		wantErr     bool
	}{
		"none is there":        {[]string{"new/2"}, []string{"out/2"}, false},
		"one is there":         {[]string{"out/1", "new/2"}, []string{"old/1", "out/2"}, false},
		"another cannot come":  {[]string{"out/1"}, []string{"out/1"}, true},
		"one cannot be put by": {[]string{"out/1", "new/2", "old/3"}, []string{"new/2", "old/3", "out/1"}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for _, file := range tc.files {
				write(t, folder, file, "")
			}
			err := replace(filepath.Join(folder, "out"), filepath.Join(folder, "new"), filepath.Join(folder, "old"))
			if (err != nil) != tc.wantErr {
				t.Errorf("error %v, want one: %t", err, tc.wantErr)
			}
			got, err := filepath.Glob(filepath.Join(folder, "*/*"))
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i] = strings.TrimPrefix(got[i], folder+"/")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// What is built from changed files can be tried, and says that it is no release.
func TestChangedFiles(t *testing.T) {
	folder := t.TempDir()
	root := filepath.Join(folder, "checkout")
	checkout(t, root)
	write(t, root, "LICENSE", "somebody's\n")
	write(t, root, "CHANGELOG.md", "## Unreleased\n\n* Not yet.\n")
	p := small(root, filepath.Join(folder, "out"), home)
	p.programs = []string{"webhook"}
	var said strings.Builder
	if err := build(t.Context(), &said, p); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), "This is no release: files were changed after the commit") {
		t.Errorf("it says:\n%s", said.String())
	}
	text, err := os.ReadFile(filepath.Join(p.out, "images.txt"))
	if err != nil || !strings.HasPrefix(string(text), home+"/webhook:"+madeVersion+"-dirty@sha256:") {
		t.Errorf("the image is %s, error %v", text, err)
	}
}

// A tag that nobody has prepared is refused, with all that is missing.
func TestTagWithoutPreparation(t *testing.T) {
	folder := t.TempDir()
	root := filepath.Join(folder, "checkout")
	checkout(t, root)
	git(t, root, "commit", "-q", "--allow-empty", "-m", "more")
	git(t, root, "tag", "v1.3.0")
	p := small(root, filepath.Join(folder, "out"), home)
	err := build(t.Context(), io.Discard, p)
	for _, want := range []string{"nothing below a heading ## v1.3.0", "newTag of ghcr.io/fleetscale/webhook must be v1.3.0, got v1.2.3"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := os.Stat(p.out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"sell"}, {"build"}, {"build", "-root", "x"}, {"push"}, {"push", "-out", "x", "y"}} {
		if err := run(t.Context(), args); err == nil || err.Error() != usage {
			t.Errorf("%v: %v, want the usage", args, err)
		}
	}
}

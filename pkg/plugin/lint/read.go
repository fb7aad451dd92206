// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Options say what is judged.
type Options struct {
	// Paths are files, folders, or - for In.
	Paths []string
	// Recursive also takes the folders below folders.
	Recursive bool
	In        io.Reader
	// Namespace is that of objects without one.
	Namespace string
	// Progress is called after each file, with how many were read. May be nil.
	Progress func(files int)
}

// largest is how many bytes of a file are read: etcd stores objects of 1.5 MiB, and a file may hold many.
const largest = 64 << 20

// Lint reads all files, and judges what is in them together. It ends with ctx.
func Lint(ctx context.Context, o Options) (*Report, error) {
	r := &Report{Findings: []Finding{}, Unusable: []Unusable{}}
	var objects []object
	take := func(file string, text []byte, err error) {
		r.Files++
		if err != nil {
			r.Unusable = append(r.Unusable, Unusable{File: file, Message: err.Error()})
			return
		}
		p := parse(file, text)
		objects, r.Ignored, r.Unusable = append(objects, p.objects...), r.Ignored+p.ignored, append(r.Unusable, p.unusable...)
		if o.Progress != nil {
			o.Progress(r.Files)
		}
	}
	for _, path := range o.Paths {
		if err := each(ctx, path, o, take); err != nil {
			return nil, err
		}
	}
	for i := range objects {
		if objects[i].meta.Kind != "" {
			r.Objects++
		}
	}
	r.Ignored += len(objects) - r.Objects // HorizontalPodAutoscalers
	r.Findings = append(r.Findings, judge(objects, o.Namespace)...)
	r.sort()
	return r, nil
}

// each takes the files of a path. The error is that of ctx.
func each(ctx context.Context, path string, o Options, take func(file string, text []byte, err error)) error {
	if path == "-" {
		text, err := bounded(o.In)
		take("<stdin>", text, err)
		return ctx.Err()
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		text, err := content(path)
		take(path, text, err)
		return ctx.Err()
	}
	return filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			take(file, nil, err)
		case entry.IsDir():
			if file != path && (!o.Recursive || strings.HasPrefix(entry.Name(), ".")) {
				return fs.SkipDir
			}
		case slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)):
			text, err := content(file)
			take(file, text, err)
		}
		return nil
	})
}

func content(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bounded(f)
}

func bounded(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, largest+1))
	if err == nil && len(text) > largest {
		err = fmt.Errorf("more than %d MiB: no manifest is so large", largest>>20)
	}
	return text, err
}

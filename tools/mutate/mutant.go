// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// pkg is a package as Go lists it.
type pkg struct {
	Dir, ImportPath                             string
	GoFiles, TestGoFiles, XTestGoFiles, Imports []string
	Module                                      struct{ Dir string }
	above                                       *pkg // the one of the directory above, if it imports this one: its tests judge this one, too
}

// relate has each package know the one above it, whether or not the patterns name that one, too.
func relate(ctx context.Context, packages []pkg) error {
	for i, p := range packages {
		if p.Dir == p.Module.Dir {
			continue
		}
		above, err := list(ctx, filepath.Dir(p.Dir), []string{"-e", "."}) // there may be none
		if err != nil {
			return err
		}
		if a := above[0]; a.tested() && slices.Contains(a.Imports, p.ImportPath) {
			packages[i].above = &a
		}
	}
	return nil
}

func (p pkg) tested() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// list returns the packages that the patterns name, in Go's order.
func list(ctx context.Context, dir string, patterns []string) ([]pkg, error) {
	args := []string{"list", "-json=Dir,ImportPath,GoFiles,TestGoFiles,XTestGoFiles,Imports,Module"}
	command := exec.CommandContext(ctx, "go", append(args, patterns...)...)
	command.Dir = dir
	problem := &bytes.Buffer{}
	command.Stderr = problem
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("listing packages: %w: %s", err, problem)
	}
	var packages []pkg
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var p pkg
		switch err := decoder.Decode(&p); err {
		case nil:
			packages = append(packages, p)
		case io.EOF:
			return packages, nil
		default:
			return nil, fmt.Errorf("reading the list of packages: %w", err)
		}
	}
}

// mutant is one file with one change.
type mutant struct {
	pkg
	file     string // its path
	line     int
	source   []byte // as it is
	from, to int    // what is changed of it
	by       string
}

// mutantsOf are all that can be made of the packages that the patterns name.
func mutantsOf(ctx context.Context, dir string, patterns []string) ([]mutant, error) {
	packages, err := list(ctx, dir, patterns)
	if err != nil {
		return nil, err
	}
	if err := relate(ctx, packages); err != nil {
		return nil, err
	}
	var all []mutant
	for _, p := range packages {
		own, err := p.mutants()
		if err != nil {
			return nil, err
		}
		all = append(all, own...)
	}
	return all, nil
}

// mutants are all that the operators can make of the package. What a generator wrote is no concern of its tests.
func (p pkg) mutants() ([]mutant, error) {
	var mutants []mutant
	for _, name := range p.GoFiles {
		file := filepath.Join(p.Dir, name)
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		positions := token.NewFileSet()
		tree, err := parser.ParseFile(positions, file, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(tree) {
			continue
		}
		offset := func(at token.Pos) int { return positions.Position(at).Offset }
		text := func(n ast.Node) string { return string(source[offset(n.Pos()):offset(n.End())]) }
		for _, c := range changes(tree, text) {
			mutants = append(mutants, mutant{pkg: p, file: file, line: positions.Position(c.from).Line, source: source,
				from: offset(c.from), to: offset(c.to), by: c.by})
		}
	}
	return mutants, nil
}

// changed is the source with the change.
func (m mutant) changed() []byte {
	return append(append(append([]byte(nil), m.source[:m.from]...), m.by...), m.source[m.to:]...)
}

// String returns where the mutant is, and the changed line as git's --word-diff has it; of what spans lines, the first.
func (m mutant) String() string {
	path, err := filepath.Rel(m.Module.Dir, m.file)
	if err != nil {
		path = m.file
	}
	text := string(m.source)
	begin := strings.LastIndexByte(text[:m.from], '\n') + 1
	end := m.to + strings.IndexByte(text[m.to:]+"\n", '\n')
	old, rest := text[m.from:m.to], text[m.to:end]
	if first, _, more := strings.Cut(old, "\n"); more {
		old, rest = first+" …", ""
	}
	if old != "" {
		old = "[-" + old + "-]"
	}
	by := m.by
	if by != "" {
		by = "{+" + by + "+}"
	}
	return fmt.Sprintf("%s:%d  %s", path, m.line, strings.TrimSpace(text[begin:m.from]+old+by+rest))
}

// SPDX-License-Identifier: Apache-2.0

package fleetscale

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/fleetscale/fleetscale"

// source is one Go file of the repository.
type source struct {
	name  string // path from the repository's root, with slashes
	place string // the entry of rings that holds it; empty outside pkg/ and cmd/
	ring  int    // meaningless without a place
	tree  *ast.File
}

// importFaults reads every Go file below root and returns what breaks the rules, in the order of the files. The error
// is for a file that cannot be read.
func importFaults(root fs.FS) ([]string, error) {
	var faults []string
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skipped(name):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		file, err := parse(root, name)
		if err != nil {
			return err
		}
		faults = append(faults, file.faults()...)
		return nil
	})
	return faults, err
}

// skipped returns which directories hold no source of ours.
func skipped(dir string) bool {
	base := path.Base(dir)
	return base == "testdata" || dir != "." && strings.HasPrefix(base, ".")
}

func parse(root fs.FS, name string) (source, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return source{}, err
	}
	tree, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	place := placeOf(path.Dir(name))
	return source{name: name, place: place, ring: rings[place], tree: tree}, nil
}

// placeOf returns the longest entry of rings that is dir or above it, or "".
func placeOf(dir string) string {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, known := rings[dir]; known {
			return dir
		}
	}
	return ""
}

func (s source) faults() []string {
	inTest := strings.HasPrefix(s.name, "test/")
	if s.place == "" && path.Dir(s.name) != "." && !inTest && !strings.HasPrefix(s.name, "tools/") {
		return []string{s.name + ": its package has no ring; give it one in imports_test.go and doc.go"}
	}
	var faults []string
	for _, spec := range s.tree.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value) // the parser accepts only quoted strings
		if why := s.mayNot(imported, inTest); why != "" {
			faults = append(faults, fmt.Sprintf("%s imports %s: %s", s.name, imported, why))
		}
	}
	switch {
	case s.pure():
		faults = append(faults, s.effects()...)
	case strings.HasSuffix(s.name, "_test.go") && !s.imports("testing/synctest") && len(s.uses("Sleep")) > 0:
		faults = append(faults, s.name+
			" uses time.Sleep: a sleep is too long on a good day and too short on a bad one; wait for a condition, or use testing/synctest")
	}
	return faults
}

func (s source) imports(pkg string) bool {
	return slices.ContainsFunc(s.tree.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == strconv.Quote(pkg) })
}

// mayNot returns why the file may not import this package, or "".
func (s source) mayNot(imported string, inTest bool) string {
	if below(imported, "k8s.io/kubernetes") && !inTest {
		return "only the module test/ may; its replace directives would reach everyone who imports fleetscale"
	}
	if below(imported, "k8s.io/autoscaler") && !strings.HasPrefix(s.name, "test/oracle/") {
		return "only the module test/oracle may; nothing else links VPA"
	}
	if below(imported, "github.com/cert-manager/cert-manager") && !strings.HasPrefix(s.name, "test/certmanager/") {
		return "only the module test/certmanager may; what others apply are manifests"
	}
	if below(imported, "github.com/karmada-io/karmada") && !strings.HasPrefix(s.name, "test/karmada/") {
		return "only the module test/karmada may; its versions of Kubernetes' modules are Karmada's"
	}
	if ours, found := strings.CutPrefix(imported, module+"/"); found {
		return s.mayNotReach(ours, inTest)
	}
	if by, parses := pureParts[imported]; !s.pure() || parses && (by == "" || by == s.place) {
		return ""
	}
	for pkg, why := range impure {
		if below(imported, pkg) {
			return fmt.Sprintf("%s is pure: %s", s.kind(), why)
		}
	}
	return ""
}

// mayNotReach returns why the file may not import this package of ours, or "".
func (s source) mayNotReach(ours string, inTest bool) string {
	place := placeOf(ours)
	switch {
	case below(ours, "test"):
		if inTest {
			return ""
		}
		return "test/ is a module of its own that nothing outside it needs"
	case below(ours, "tools"):
		if below(s.name, "tools") {
			return ""
		}
		return "tools/ are modules of their own that nothing outside them needs"
	case place == "":
		return "it has no ring; give it one in imports_test.go and doc.go"
	case stage(ours):
		if stage(s.name) || strings.HasSuffix(s.name, "_test.go") || s.place == "" {
			return ""
		}
		return "it is for tests, and only they may import it"
	case place == s.place || slices.Contains(neighbours[s.place], place):
		return ""
	case below(place, "cmd") && !below(place, s.place):
		return "a program is imported by nobody; what two programs share belongs under pkg/"
	case s.place == "" || rings[place] < s.ring:
		return ""
	}
	return fmt.Sprintf("ring %d may import only rings inside it, and %s is in ring %d", s.ring, place, rings[place])
}

// stage reports whether a path is that of a package for tests, or of a file of one. Tests of every ring share them.
func stage(name string) bool {
	if path.Ext(name) == ".go" {
		name = path.Dir(name)
	}
	return below(name, "pkg") && strings.HasSuffix(name, "test")
}

// pure reports whether the file is held to the purity of rings 0 and 1. Tests of pure code may do as they like.
func (s source) pure() bool {
	return s.place != "" && s.ring <= 1 && !strings.HasSuffix(s.name, "_test.go") || s.decides()
}

// decides reports whether decisions names the file.
func (s source) decides() bool {
	return slices.Contains(decisions[path.Dir(s.name)], path.Base(s.name))
}

// kind returns what a pure file is.
func (s source) kind() string {
	if s.decides() {
		return "a decision"
	}
	return fmt.Sprintf("ring %d", s.ring)
}

// effects finds the reading of clocks and the starting of goroutines.
func (s source) effects() []string {
	var faults []string
	for _, name := range s.uses(clock...) {
		faults = append(faults, fmt.Sprintf("%s uses time.%s: %s is pure, and is told the time", s.name, name, s.kind()))
	}
	ast.Inspect(s.tree, func(node ast.Node) bool {
		if _, ok := node.(*ast.GoStmt); ok {
			faults = append(faults, fmt.Sprintf("%s starts a goroutine: %s is pure, and leaves that to its caller", s.name, s.kind()))
		}
		return true
	})
	return faults
}

// uses returns which of these functions of package time the file uses, once for each use.
func (s source) uses(functions ...string) []string {
	var used []string
	ast.Inspect(s.tree, func(node ast.Node) bool {
		if n, ok := node.(*ast.SelectorExpr); ok && slices.Contains(functions, n.Sel.Name) {
			if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "time" {
				used = append(used, n.Sel.Name)
			}
		}
		return true
	})
	return used
}

// below reports whether an import path is parent or under it.
func below(imported, parent string) bool {
	return imported == parent || strings.HasPrefix(imported, parent+"/")
}

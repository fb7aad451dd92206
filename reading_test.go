// SPDX-License-Identifier: Apache-2.0

package fleetscale

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/architecture.md lists the files of one reconcile in the order in which they are read, for each mode. Whoever reads them in that
// order goes back to none: each is called from one that was read before.
func TestFilesOfAReconcileAreReadOnce(t *testing.T) {
	const most = 12
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"central", "distributed"} {
		files := listed(string(text), "Files of one reconcile in "+mode+" mode, in reading order:")
		if len(files) < 5 || len(files) > most {
			t.Errorf("%s: %d files, want 5 to %d", mode, len(files), most)
		}
		called := map[string]bool{}
		for i, file := range files {
			if slices.Contains(files[:i], file) {
				t.Errorf("%s: %s is listed twice", mode, file)
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatalf("%s: %v", mode, err)
			}
			if i > 0 && !slices.ContainsFunc(declared(tree), func(name string) bool { return called[name] }) {
				t.Errorf("%s: nothing in %s is called from a file that is listed before it", mode, file)
			}
			for _, name := range calls(tree) {
				called[name] = true
			}
		}
	}
}

// listed returns the paths in the numbered list below a line.
func listed(text, above string) (files []string) {
	_, below, _ := strings.Cut(text, above+"\n\n")
	list, _, _ := strings.Cut(below, "\n\n")
	for _, found := range regexp.MustCompile("(?m)^[0-9]+\\. `([^`]+\\.go)`").FindAllStringSubmatch(list, -1) {
		files = append(files, found[1])
	}
	return files
}

// declared returns the functions and methods of a file.
func declared(tree *ast.File) (names []string) {
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// calls returns the names of what a file calls, wherever that is.
func calls(tree *ast.File) (names []string) {
	ast.Inspect(tree, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch f := call.Fun.(type) {
		case *ast.Ident:
			names = append(names, f.Name)
		case *ast.SelectorExpr:
			names = append(names, f.Sel.Name)
		}
		return true
	})
	return names
}

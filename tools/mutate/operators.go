// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// change replaces the source from one position to another.
type change struct {
	from, to token.Pos
	by       string
}

// changes are all that the operators make of a file; source returns the text of a node.
func changes(file *ast.File, source func(ast.Node) string) []change {
	w := walker{source: source}
	ast.Inspect(file, w.visit)
	return w.found
}

// walker collects changes while it walks a file.
type walker struct {
	source  func(ast.Node) string
	parents []ast.Node // of the node that is visited, the file first
	found   []change
}

func (w *walker) visit(node ast.Node) bool {
	if node == nil {
		w.parents = w.parents[:len(w.parents)-1]
		return true
	}
	if declaration, ok := node.(*ast.GenDecl); ok && (declaration.Tok == token.IMPORT || declaration.Tok == token.TYPE) {
		return false
	}
	w.expression(node)
	w.statement(node)
	w.parents = append(w.parents, node)
	return true
}

func (w *walker) expression(node ast.Node) {
	switch n := node.(type) {
	case *ast.BinaryExpr:
		w.operators(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			w.replace(n.OpPos, n.X.Pos(), "")
		}
	case *ast.BasicLit:
		w.number(n)
	case *ast.CallExpr:
		w.minMax(n)
	}
}

func (w *walker) statement(node ast.Node) {
	switch n := node.(type) {
	case *ast.BlockStmt:
		w.deletions(n.List)
	case *ast.CaseClause:
		w.deletions(n.Body)
	case *ast.CommClause:
		w.deletions(n.Body)
	case *ast.FuncDecl:
		w.early(n.Type, n.Body)
	case *ast.FuncLit:
		w.early(n.Type, n.Body)
	case *ast.ReturnStmt:
		w.zero(n)
	}
}

func (w *walker) replace(from, to token.Pos, by string) {
	w.found = append(w.found, change{from: from, to: to, by: by})
}

func (w *walker) operators(n *ast.BinaryExpr) {
	for _, other := range others(n.Op) {
		w.replace(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other)
	}
}

// others returns what an operator is replaced by: a comparison by that with another bound, and by its opposite.
func others(operator token.Token) []string {
	switch operator {
	case token.LSS:
		return []string{"<=", ">="}
	case token.LEQ:
		return []string{"<", ">"}
	case token.GTR:
		return []string{">=", "<="}
	case token.GEQ:
		return []string{">", "<"}
	case token.EQL:
		return []string{"!="}
	case token.NEQ:
		return []string{"=="}
	case token.LAND:
		return []string{"||"}
	case token.LOR:
		return []string{"&&"}
	}
	return nil
}

// number adds one.
func (w *walker) number(n *ast.BasicLit) {
	if value, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil {
		w.replace(n.Pos(), n.End(), strconv.FormatInt(value+1, 10))
	}
}

// minMax swaps the built-in functions, and those of slices.
func (w *walker) minMax(n *ast.CallExpr) {
	name, _ := n.Fun.(*ast.Ident)
	if selector, ok := n.Fun.(*ast.SelectorExpr); ok {
		if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == "slices" {
			name = selector.Sel
		}
	}
	if name == nil {
		return
	}
	for _, pair := range [][2]string{{"min", "max"}, {"max", "min"}, {"Min", "Max"}, {"Max", "Min"}} {
		if rest, found := strings.CutPrefix(name.Name, pair[0]); found && (rest == "" || rest == "Func") {
			w.replace(name.Pos(), name.End(), pair[1]+rest)
		}
	}
}

// deletions makes each statement of a list ineffective. What it reads is still read where possible: with unused variables
// the mutant would not compile.
func (w *walker) deletions(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.IfStmt:
			w.replace(s.Cond.Pos(), s.Cond.End(), "false && ("+w.source(s.Cond)+")")
		case *ast.ForStmt:
			w.replace(s.Body.Lbrace+1, s.Body.Lbrace+1, " break;")
		case *ast.RangeStmt:
			w.replace(s.Body.Lbrace+1, s.Body.Lbrace+1, " break;")
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				w.replace(s.Pos(), s.TokPos+token.Pos(len(s.Tok.String())), strings.Repeat("_, ", len(s.Lhs)-1)+"_ =")
			}
		case *ast.DeclStmt, *ast.ReturnStmt, *ast.LabeledStmt, *ast.BlockStmt, *ast.EmptyStmt:
		default:
			w.replace(s.Pos(), s.End(), "")
		}
	}
}

// early returns at once.
func (w *walker) early(of *ast.FuncType, body *ast.BlockStmt) {
	if body == nil || len(body.List) == 0 {
		return
	}
	if _, at := body.List[0].(*ast.ReturnStmt); at {
		return // zero does the same
	}
	w.replace(body.Lbrace+1, body.Lbrace+1, " "+w.zeros(of)+";")
}

// zero returns zero values instead of others; these stay behind it, so that what they read is used.
func (w *walker) zero(n *ast.ReturnStmt) {
	for _, result := range n.Results {
		switch w.source(result) {
		case "nil", "false", "0", `""`:
		default:
			w.replace(n.Pos(), n.Pos(), w.zeros(w.function())+"; ")
			return
		}
	}
}

// function is the type of the innermost function around.
func (w *walker) function() *ast.FuncType {
	for i := len(w.parents) - 1; ; i-- {
		switch n := w.parents[i].(type) {
		case *ast.FuncDecl:
			return n.Type
		case *ast.FuncLit:
			return n.Type
		}
	}
}

// zeros is the statement that returns the zero value of each result.
func (w *walker) zeros(of *ast.FuncType) string {
	var values []string
	if of.Results != nil {
		for _, field := range of.Results.List {
			for range max(1, len(field.Names)) {
				values = append(values, "*new("+w.source(field.Type)+")")
			}
		}
	}
	return strings.TrimSpace("return " + strings.Join(values, ", "))
}

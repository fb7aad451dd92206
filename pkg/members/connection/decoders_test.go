// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// decoders are functions that make objects of bytes, or clients that do.
var decoders = map[string]bool{
	"Unmarshal": true, "UnmarshalJSON": true, "NewDecoder": true, "FromUnstructured": true, "Into": true, "Stream": true,
	"NewDiscoveryClient": true, "NewForConfig": true, "NewForConfigAndClient": true, "RESTClientFor": true,
	"RESTClientForConfigAndClient":            true,
	"UnversionedRESTClientForConfigAndClient": true, "UniversalDecoder": true, "UniversalDeserializer": true, "YAMLToJSON": true,
}

// guardedBy says what stands between a member's bytes and each use of a decoder in pkg/members, by file and function. Whoever adds
// one says here what does.
var guardedBy = map[string]string{
	"capacity/summaries.go summaryOf FromUnstructured":                               "the hub's; guard.Unstructured",
	"connection/connection.go prepareClient UnversionedRESTClientForConfigAndClient": "codecs: TestEveryRouteIsGuarded",
	"connection/documents.go decodeAggregated Unmarshal":                             "Decode",
	"connection/documents.go decodeGroups Unmarshal":                                 "Decode",
	"connection/documents.go decodeVersions Unmarshal":                               "Decode",
	"connection/plugin.go read Unmarshal":                                            "no member's: a plugin's, of 1 MiB",
	"connection/mapper.go NewMapper NewDiscoveryClient":                              "documents, and codecs",
	"connection/resource.go DecodeJSON Unmarshal":                                    "Decode",
	"connection/resource.go DecodeKind Unmarshal":                                    "Decode",
	"history/checkpoint.go checkpointOf Unmarshal":                                   "the hub's",
	"history/vpa.go FromVPA Unmarshal":                                               "what was decoded, of 4 MiB; no quantities",
	"member/probe.go identify Unmarshal":                                             "a text and 1 MiB: nothing that unfolds",
	"member/record.go decode Unmarshal":                                              "the hub's",
	"member/reviews.go review Into":                                                  "codecs: TestEveryRouteIsGuarded",
	"memberview/view.go Decode Unmarshal":                                            "the hub's, of 2 KiB each",
	"sizing/hub.go NewHub RESTClientForConfigAndClient":                              "the hub's",
	"relay/api.go newDecoder UniversalDecoder":                                       "Decode",
	"usage/decode.go decode Unmarshal":                                               "Decode, with key.check",
	"usage/podlist.go Unmarshal Unmarshal":                                           "Decode, with key.check",
	"usage/podlist.go UnmarshalJSON Unmarshal":                                       "Decode, with key.check",
	"workload/template.go TemplateOf FromUnstructured":                               "guard.Unstructured, of what was decoded",
}

// A new way from a member's bytes to a decoder is found here, and has to be guarded.
func TestEveryDecoderIsGuarded(t *testing.T) {
	found := map[string]string{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.Contains(path, "memberstest") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, declared := range file.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(function, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if selected, ok := call.Fun.(*ast.SelectorExpr); ok && decoders[selected.Sel.Name] {
						use := filepath.ToSlash(strings.TrimPrefix(path, "../")) + " " + function.Name.Name + " " + selected.Sel.Name
						found[use] = guardedBy[use]
					}
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, "uses of decoders, and what guards them", guardedBy, found)
}

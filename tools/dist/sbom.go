// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
	"github.com/package-url/packageurl-go"
)

// sbom lists the modules that a program is made of, as Go wrote them into it, in CycloneDX. Others are what comes with it. The same
// binary, by its hash, gets the same list.
func sbom(b binary, hash string, src source, others ...debug.Module) ([]byte, error) {
	bom := cdx.NewBOM()
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte(homepage+"#"+hash)).URN()
	product := component(b.info.Main)
	product.Type, product.Name = cdx.ComponentTypeApplication, b.program
	product.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hash}}
	product.Properties = &[]cdx.Property{{Name: "platform", Value: b.platform.os + "/" + b.platform.arch}}
	bom.Metadata = &cdx.Metadata{Timestamp: src.time.Format("2006-01-02T15:04:05Z07:00"), Component: &product}

	var parts []cdx.Component
	library := debug.Module{Path: "stdlib", Version: strings.TrimPrefix(b.info.GoVersion, "go")}
	for _, m := range slices.Concat(modules(b.info), []debug.Module{library}, others) {
		parts = append(parts, component(m))
	}
	slices.SortFunc(parts, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	var refs []string
	for _, p := range parts {
		refs = append(refs, p.BOMRef)
	}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: product.BOMRef, Dependencies: &refs}}

	var text bytes.Buffer
	err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return text.Bytes(), err
}

func component(m debug.Module) cdx.Component {
	folder, name := path.Split(m.Path)
	url := packageurl.NewPackageURL(packageurl.TypeGolang, strings.TrimSuffix(folder, "/"), name, m.Version, nil, "").ToString()
	return cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: m.Path, Version: m.Version, PackageURL: url}
}

// modules are those that a program is made of, but for its own.
func modules(info *debug.BuildInfo) (all []debug.Module) {
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		all = append(all, *m)
	}
	return all
}

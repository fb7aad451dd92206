// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"slices"
	"strings"

	slsa "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

// provenance says of files and images what they were built from and how, as an in-toto statement of SLSA v1. Nothing in it tells who
// built them, or when: whoever signs it says that he did, and anybody else may build the same.
func provenance(src source, version, goVersion, registry string, sums []sum, images []image) ([]byte, error) {
	var subjects []*intoto.ResourceDescriptor
	for _, s := range sums {
		subjects = append(subjects, &intoto.ResourceDescriptor{Name: s.name, Digest: map[string]string{"sha256": s.hash}})
	}
	for _, i := range images {
		subjects = append(subjects, &intoto.ResourceDescriptor{Name: i.ref(), Digest: map[string]string{i.digest.Algorithm: i.digest.Hex}})
	}
	parameters, err := structpb.NewStruct(map[string]any{"version": version, "registry": registry})
	if err != nil {
		return nil, err
	}
	inner, err := structpb.NewStruct(map[string]any{
		"go": goVersion, "flags": strings.Join(settings.flags, " "), "environment": strings.Join(settings.env, " "),
	})
	if err != nil {
		return nil, err
	}
	predicate, err := asStruct(&slsa.Provenance{
		BuildDefinition: &slsa.BuildDefinition{
			BuildType:          homepage + "/tree/main/tools/dist",
			ExternalParameters: parameters,
			InternalParameters: inner,
			ResolvedDependencies: []*intoto.ResourceDescriptor{
				{Uri: "git+" + homepage, Digest: map[string]string{"gitCommit": src.commit}},
			},
		},
		RunDetails: &slsa.RunDetails{Builder: &slsa.Builder{Id: homepage + "/tree/main/tools/dist"}},
	})
	if err != nil {
		return nil, err
	}
	statement := &intoto.Statement{
		Type: intoto.StatementTypeUri, Subject: subjects, PredicateType: "https://slsa.dev/provenance/v1", Predicate: predicate,
	}
	if err := statement.Validate(); err != nil {
		return nil, err
	}
	text, err := protojson.Marshal(statement)
	if err != nil {
		return nil, err
	}
	return stable(text)
}

// asStruct is a valid predicate in the form that statements hold it.
func asStruct(p *slsa.Provenance) (*structpb.Struct, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	text, err := protojson.Marshal(p)
	if err != nil {
		return nil, err
	}
	into := &structpb.Struct{}
	return into, protojson.Unmarshal(text, into)
}

// stable writes JSON again, with sorted keys and the same spaces always, which the protobuf library deliberately does not.
func stable(text []byte) ([]byte, error) {
	var content any
	if err := json.Unmarshal(text, &content); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(content, "", "  ")
	return slices.Concat(text, []byte("\n")), err
}

// SPDX-License-Identifier: Apache-2.0

// Package api_test holds our CustomResourceDefinitions to the API server's own code, without an API server: it must
// accept them, and with them accept and refuse what they promise.
package api_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// crds are the repository's CustomResourceDefinitions: the hub's, and that of members.
func crds(t testing.TB) []string {
	t.Helper()
	const hub, members = "../../deploy/crds/autoscaling.karmada.io_*.yaml", "../../deploy/member-sizes/fleetscale.io_*.yaml"
	ofHub, hubErr := filepath.Glob(hub)
	ofMembers, membersErr := filepath.Glob(members)
	if err := errors.Join(hubErr, membersErr); err != nil || len(ofHub) != 4 || len(ofMembers) != 1 {
		t.Fatalf("CustomResourceDefinitions: %v and %v (%v), want four and one", ofHub, ofMembers, err)
	}
	return append(ofHub, ofMembers...)
}

// server does to an object of one kind what an API server does that has our CustomResourceDefinition.
type server struct {
	schema *schema.Structural
	values apiservervalidation.SchemaValidator
	rules  *cel.Validator
}

// servers returns one server for each kind.
func servers(t testing.TB) map[string]server {
	t.Helper()
	all := map[string]server{}
	for _, file := range crds(t) {
		crd := load(t, file)
		all[crd.Spec.Names.Kind] = serve(t, crd)
	}
	return all
}

// load reads a CustomResourceDefinition as an API server does, with the defaults that it fills in.
func load(t testing.TB, file string) *apiextensions.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	written := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, written); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(written)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&written.Spec)
	crd := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(written, crd, nil); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	crd.Status.StoredVersions = []string{crd.Spec.Versions[0].Name} // as its strategy does on create
	return crd
}

func serve(t testing.TB, crd *apiextensions.CustomResourceDefinition) server {
	t.Helper()
	s := serveValues(t, crd)
	s.rules = cel.NewValidator(s.schema, true, apiservercel.PerCallLimit)
	return s
}

// serveValues does without the CEL rules.
func serveValues(t testing.TB, crd *apiextensions.CustomResourceDefinition) server {
	t.Helper()
	structural, err := schema.NewStructural(schemaOf(crd))
	if err != nil {
		t.Fatalf("%s: %v", crd.Name, err)
	}
	values, _, err := apiservervalidation.NewSchemaValidator(schemaOf(crd))
	if err != nil {
		t.Fatalf("%s: %v", crd.Name, err)
	}
	return server{schema: structural, values: values}
}

// create returns the object as it would be stored, and what the API server would refuse it for.
func (s server) create(ctx context.Context, object map[string]any) (map[string]any, field.ErrorList) {
	object = runtime.DeepCopyJSON(object)
	pruning.Prune(object, s.schema, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.schema)
	defaulting.Default(object, s.schema)
	errs := apiservervalidation.ValidateCustomResource(nil, object, s.values)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.schema, object)...)
	if s.rules == nil {
		return object, errs
	}
	// An API server does without the rules where they could not be evaluated; here that would only hide faults.
	found, _ := s.rules.Validate(ctx, nil, s.schema, object, nil, apiservercel.RuntimeCELCostBudget)
	return object, append(errs, found...)
}

// SPDX-License-Identifier: Apache-2.0

// Command crds completes the CustomResourceDefinitions that controller-gen wrote. A marker cannot reach the fields of
// Kubernetes' own types, which ours inline; bounds.yaml says what holds for them. Without a bound on each list and
// string, the API server would also refuse our CEL rules, because it estimates their cost from the largest object.
//
//	crds <directory with what controller-gen wrote> <directory to write to>
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:embed bounds.yaml
var boundsYAML []byte

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "crds:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("give the directory to read and the directory to write")
	}
	rules, err := parseBounds(boundsYAML)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(args[0], "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("finding CustomResourceDefinitions in %s: none there (%w)", args[0], err)
	}
	for _, file := range files {
		if err := complete(file, filepath.Join(args[1], filepath.Base(file)), rules); err != nil {
			return fmt.Errorf("completing %s: %w", file, err)
		}
	}
	return rules.unused()
}

func complete(from, to string, rules bounds) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		return err
	}
	for i := range crd.Spec.Versions {
		schema := crd.Spec.Versions[i].Schema.OpenAPIV3Schema
		if err := errors.Join(rules.apply(schema), unwrap(schema), unbounded(schema)); err != nil {
			return err
		}
	}
	if text, err = write(crd); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// write leaves out what only a server fills in.
func write(crd *apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": crd.APIVersion,
		"kind":       crd.Kind,
		"metadata":   map[string]any{"name": crd.Name, "annotations": crd.Annotations},
		"spec":       crd.Spec,
	})
	return append([]byte("# SPDX-License-Identifier: Apache-2.0\n#\n# Written by `make generate`.\n"), text...), err
}

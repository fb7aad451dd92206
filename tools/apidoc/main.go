// SPDX-License-Identifier: Apache-2.0

// Command apidoc writes the reference of the API from what an API server knows of it, the CustomResourceDefinitions, so
// that it says the same as `kubectl explain` and has every bound; and puts an example of each use before it.
//
//	apidoc <kustomization> <directory of its CustomResourceDefinitions> <directory of the examples> <file to write>
//	    <further CustomResourceDefinition>...
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "apidoc:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 4 {
		return errors.New("give the kustomization and the directory of the CustomResourceDefinitions, that of the examples, and the page")
	}
	kinds, err := readCRDs(args[0], args[1])
	if err != nil {
		return err
	}
	for _, file := range args[4:] {
		crd, err := readCRD(file)
		if err != nil {
			return err
		}
		kinds = append(kinds, crd)
	}
	examples, err := readExamples(args[2])
	if err != nil {
		return err
	}
	page := &bytes.Buffer{}
	fmt.Fprintln(page, "<!-- SPDX-License-Identifier: Apache-2.0 -->")
	fmt.Fprintln(page, "<!-- Written by `make generate` from the comments in pkg/apis, deploy/crds and docs/examples. -->")
	fmt.Fprintln(page, "\n# The API")
	fmt.Fprintln(page, "\nThe words below are those of `kubectl explain`. A field without *required* may be left out.")
	for _, crd := range kinds {
		writeKind(page, crd, examples[crd.Spec.Names.Kind])
	}
	return os.WriteFile(args[3], page.Bytes(), 0o644)
}

// readCRDs returns those that a kustomization installs, in its order. Others are of kinds that nothing works on yet.
func readCRDs(kustomization, dir string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := os.ReadFile(kustomization)
	if err != nil {
		return nil, err
	}
	installed := struct{ Resources []string }{}
	if err := yaml.Unmarshal(text, &installed); err != nil || len(installed.Resources) == 0 {
		return nil, fmt.Errorf("reading %s: no resources there (%w)", kustomization, err)
	}
	var kinds []*apiextensionsv1.CustomResourceDefinition
	for _, file := range installed.Resources {
		crd, err := readCRD(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, crd)
	}
	return kinds, nil
}

func readCRD(file string) (*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return crd, nil
}

// example is a manifest, and what its comment says.
type example struct {
	file, words, manifest string
}

// readExamples returns them by kind, in the order of the files' names.
func readExamples(dir string) (map[string][]example, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	examples := map[string][]example{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		object := struct{ Kind string }{}
		if err := yaml.Unmarshal(text, &object); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		e := example{file: filepath.Base(file)}
		e.words, e.manifest = split(string(text))
		examples[object.Kind] = append(examples[object.Kind], e)
	}
	return examples, nil
}

// split parts the comment at the head of a file, without its licence, from the rest.
func split(text string) (words, rest string) {
	var said []string
	for line := range strings.Lines(text) {
		comment, isComment := strings.CutPrefix(line, "#")
		if !isComment {
			break
		}
		rest = strings.TrimPrefix(text, line)
		text = rest
		if comment = strings.TrimSpace(comment); comment != "" && !strings.HasPrefix(comment, "SPDX") {
			said = append(said, comment)
		}
	}
	return strings.Join(said, " "), rest
}

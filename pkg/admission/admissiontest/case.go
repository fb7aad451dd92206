// SPDX-License-Identifier: Apache-2.0

package admissiontest

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Manifest is an object as a person wrote it.
type Manifest map[string]any

// Case is a manifest and the answer to it.
type Case struct {
	File     string         `json:"-"`
	Name     string         `json:"case"`
	Manifest Manifest       `json:"manifest,omitempty"`
	From     string         `json:"from,omitempty"`
	Before   string         `json:"before,omitempty"`
	Set      map[string]any `json:"set,omitempty"`
	Beside   []Manifest     `json:"beside,omitempty"`
	Served   *[]string      `json:"served,omitempty"`
	Rules    []string       `json:"rules,omitempty"`
	Errors   []string       `json:"errors,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`

	// Stored is the manifest of Before; nil for a creation.
	Stored Manifest `json:"-"`
	// Origin is the case of From or Before; nil if the manifest is given whole.
	Origin *Case `json:"-"`
}

// Load reads every case below root, in the order of the files' names.
func Load(root fs.FS) ([]*Case, error) {
	var all []*Case
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		cases, err := read(name, string(text))
		all = append(all, cases...)
		return err
	})
	return all, err
}

func read(file, text string) ([]*Case, error) {
	var cases []*Case
	for document := range strings.SplitSeq(text, "\n---\n") {
		c := &Case{File: file}
		if err := yaml.UnmarshalStrict([]byte(document), c); err != nil {
			return nil, fmt.Errorf("reading %s, after case %d: %w", file, len(cases), err)
		}
		if err := c.complete(cases); err != nil {
			return nil, fmt.Errorf("%s: case %q: %w", file, c.Name, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// complete makes the manifest from that of an earlier case.
func (c *Case) complete(earlier []*Case) error {
	if c.Name == "" || find(earlier, c.Name) != nil {
		return errors.New("must have a name of its own")
	}
	for _, name := range []string{c.Before, c.From} {
		if name == "" {
			continue
		}
		origin := find(earlier, name)
		if origin == nil {
			return fmt.Errorf("there is no earlier case %q", name)
		}
		c.Origin = origin
		if name == c.Before {
			c.Stored = origin.Manifest
		}
	}
	if (c.Manifest == nil) == (c.Origin == nil) {
		return errors.New("must have a manifest, or take one by from or before")
	}
	if c.Origin != nil {
		c.Manifest = c.Origin.Manifest
	}
	var err error
	c.Manifest, err = c.Manifest.With(c.Set)
	return err
}

func find(cases []*Case, name string) *Case {
	if i := slices.IndexFunc(cases, func(c *Case) bool { return c.Name == name }); i >= 0 {
		return cases[i]
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

// Licences holds every module that is linked into the programs to licences that may be linked into them. It reads the module
// cache, and needs no network.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// allowed licences ask for no more than that they are passed on with the programs.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: licences FOLDER, that of the module with the programs in cmd/")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, root string) error {
	modules, err := linked(ctx, root)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	var errs []error
	for _, m := range modules {
		licence, err := licenceOf(m.dir)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", m.name, err))
		case !slices.Contains(allowed, licence):
			errs = append(errs, fmt.Errorf("%s: its licence (%s) is none of %s", m.name, licence, strings.Join(allowed, ", ")))
		default:
			counts[licence]++
		}
	}
	fmt.Fprintf(out, "Licences of %d linked modules:", len(modules))
	for _, licence := range allowed {
		fmt.Fprintf(out, " %s %d", licence, counts[licence])
	}
	fmt.Fprintln(out)
	return errors.Join(errs...)
}

type module struct{ name, dir string }

// linked are the modules of all packages that the programs of a module are made of, on whatever system, but for itself.
func linked(ctx context.Context, root string) ([]module, error) {
	var all []module
	for _, system := range []string{"linux", "darwin", "windows"} { // for which make dist builds them
		found, err := linkedOn(ctx, root, system)
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			if !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	return all, nil
}

func linkedOn(ctx context.Context, root, system string) ([]module, error) {
	const format = "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}\t{{.Dir}}{{end}}{{end}}"
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-f", format, "./cmd/...")
	list.Dir = root
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system)
	var stderr bytes.Buffer
	list.Stderr = &stderr
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("listing what is linked: %w: %s", err, stderr.String())
	}
	var all []module
	for line := range strings.Lines(string(text)) {
		name, dir, found := strings.Cut(strings.TrimSpace(line), "\t")
		if found && !slices.Contains(all, module{name, dir}) {
			all = append(all, module{name, dir})
		}
	}
	if len(all) == 0 {
		return nil, errors.New("nothing is linked, which cannot be")
	}
	return all, nil
}

// licenceOf judges every file of a module's folder that holds a licence. Several have to be the same, or each allowed.
func licenceOf(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var found []string
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		licence := recognize(string(text))
		if !slices.Contains(allowed, licence) {
			return licence, nil
		}
		found = append(found, licence)
	}
	if len(found) == 0 {
		return "", errors.New("it has no licence")
	}
	return found[0], nil
}

// recognize knows a licence by sentences that it has and others have not.
func recognize(text string) string {
	plain := strings.ToLower(strings.Join(strings.Fields(text), " "))
	has := func(sentence string) bool { return strings.Contains(plain, sentence) }
	switch {
	case has("gnu general public license"), has("gnu lesser general public license"), has("gnu affero general public license"):
		return "GNU"
	case has("mozilla public license"):
		return "MPL"
	case has("apache license version 2.0"), has("apache license, version 2.0"):
		return "Apache-2.0"
	case has("permission is hereby granted, free of charge, to any person obtaining a copy"):
		return "MIT"
	case has("permission to use, copy, modify, and distribute this software"),
		has("permission to use, copy, modify, and/or distribute this software"):
		return "ISC"
	case has("redistribution and use in source and binary forms") && has("neither the name"):
		return "BSD-3-Clause"
	case has("redistribution and use in source and binary forms") && !has("advertising materials"):
		return "BSD-2-Clause"
	}
	return "unknown"
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRecognize(t *testing.T) {
	const bsd = "Redistribution and use in source and binary\nforms, with or without modification, are permitted"
	for text, want := range map[string]string{
		"                Apache License\n   Version 2.0, January 2004":                     "Apache-2.0",
		"Permission is hereby granted, free of charge, to any person\nobtaining a copy of": "MIT",
		bsd + "\nNeither the name of Google":                                               "BSD-3-Clause",
		bsd:                                                                                "BSD-2-Clause",
		bsd + " All advertising materials mentioning features":                             "unknown",
		"Permission to use, copy, modify, and distribute this software for any purpose":             "ISC",
		"Mozilla Public License Version 2.0":                                                        "MPL",
		"GNU LESSER GENERAL PUBLIC LICENSE, of which the Apache License, Version 2.0 is no part of": "GNU",
		"All rights reserved.": "unknown",
	} {
		if got := recognize(text); got != want {
			t.Errorf("%.60q is %s, want %s", text, got, want)
		}
	}
}

func TestLicenceOf(t *testing.T) {
	const mit = "Permission is hereby granted, free of charge, to any person obtaining a copy of"
	tests := map[string]struct {
		files map[string]string
		want  string
		fault string
	}{
		"one":                       {map[string]string{"LICENSE": mit, "README": "GNU General Public License"}, "MIT", ""},
		"as others write it":        {map[string]string{"Licence.md": mit}, "MIT", ""},
		"one of two is not allowed": {map[string]string{"LICENSE": mit, "LICENSE.more": "GNU General Public License"}, "GNU", ""},
		"none":                      {map[string]string{"README": mit}, "", "it has no licence"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range tc.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := licenceOf(dir)
			if got != tc.want || (err == nil) != (tc.fault == "") || err != nil && err.Error() != tc.fault {
				t.Errorf("licence %q, error %v; want %q, %q", got, err, tc.want, tc.fault)
			}
		})
	}
}

// What is linked is found, and judged.
func TestOurs(t *testing.T) {
	var out strings.Builder
	if err := run(&out, "../.."); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "linked modules: Apache-2.0 ") {
		t.Errorf("it says %s", out.String())
	}
}

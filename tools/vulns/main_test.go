// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	database := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/index/db.json" {
			http.NotFound(w, req)
			return
		}
		_, _ = io.WriteString(w, "{}")
	}))
	defer database.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	script := func(text string) string {
		file := filepath.Join(t.TempDir(), "govulncheck")
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return file
	}
	finds, finds0 := script("echo checked $2\nexit 3\n"), script("echo checked $2\n")
	tests := map[string]struct {
		database, program, said, fault string
	}{
		"nothing is known":                  {database.URL, finds0, "checked one\nchecked two\n", ""},
		"one is known":                      {database.URL, finds, "checked one\n", "checking one: exit status 3"},
		"the database cannot be reached":    {closed.URL, finds, "WARNING: known vulnerabilities were NOT searched for: ", ""},
		"the database is somebody else now": {database.URL + "/moved", finds, "answers 404 Not Found", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := run(t.Context(), &out, tc.database, tc.program, []string{"one", "two"})
			if !strings.Contains(out.String(), tc.said) || (err == nil) != (tc.fault == "") || err != nil && err.Error() != tc.fault {
				t.Errorf("it says %q, error %v; want %q, %q", out.String(), err, tc.said, tc.fault)
			}
		})
	}
}

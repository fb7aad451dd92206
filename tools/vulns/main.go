// SPDX-License-Identifier: Apache-2.0

// Vulns searches what a module's packages call for known vulnerabilities, by govulncheck. Where the database of
// vulnerabilities cannot be reached it says so, and that is no error: a build must not depend on the network.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"time"
)

const (
	database  = "https://vuln.go.dev"
	reachable = 5 * time.Second
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: vulns GOVULNCHECK FOLDER..., those of modules")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Stderr, database, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "vulns:", err)
		os.Exit(1)
	}
}

// run checks each folder with the program, if the database answers.
func run(ctx context.Context, out io.Writer, database, program string, folders []string) error {
	if err := reach(ctx, database+"/index/db.json"); err != nil {
		fmt.Fprintf(out, "WARNING: known vulnerabilities were NOT searched for: %v\n", err)
		return nil
	}
	for _, folder := range folders {
		check := exec.CommandContext(ctx, program, "-C", folder, "-db", database, "./...")
		check.Stdout, check.Stderr = out, out
		if err := check.Run(); err != nil {
			return fmt.Errorf("checking %s: %w", folder, err)
		}
	}
	return nil
}

func reach(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, reachable)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, resp.Status)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

// Command monitoring writes the dashboards of deploy/components/monitoring into a directory. Its tests hold these, and the alerts
// beside them, to the metrics that the programs have, by Prometheus' own parser and engine.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: monitoring DIRECTORY")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(dir string) error {
	for _, d := range dashboards() {
		text, err := json.MarshalIndent(d, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, d.file), append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}

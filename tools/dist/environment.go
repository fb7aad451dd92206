// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// sources are what somebody may set for Go, in the environment or by go env -w: where it gets modules and itself, and where it keeps
// them. None changes the bytes of a program: go.sum and the version of Go say what they are made of.
var sources = []string{
	"GOAUTH", "GOCACHE", "GOCACHEPROG", "GOINSECURE", "GOMODCACHE", "GONOPROXY", "GONOSUMDB", "GOPRIVATE", "GOPROXY", "GOSUMDB",
	"GOTMPDIR", "GOTOOLCHAIN", "GOVCS",
}

// readEnvironment is that in which Go builds: our own, and of all that is meant for Go only the sources and the settings. No list is
// complete: GOCOMPILEDEBUG, for one, is in none.
func readEnvironment(ctx context.Context, root string) ([]string, error) {
	text, err := output(ctx, root, nil, "go", slices.Concat([]string{"env", "-json"}, sources)...)
	if err != nil {
		return nil, err
	}
	known := map[string]string{}
	if err := json.Unmarshal([]byte(text), &known); err != nil {
		return nil, fmt.Errorf("reading what is set for Go: %w", err)
	}
	env := slices.DeleteFunc(os.Environ(), isForGo)
	for _, name := range sources {
		env = append(env, name+"="+known[name])
	}
	return append(env, settings.env...), nil
}

// isForGo reports whether a variable is Go's, by its name. Google's are not: who fetches modules may need them.
func isForGo(variable string) bool {
	return strings.HasPrefix(variable, "CGO_") || strings.HasPrefix(variable, "GO") && !strings.HasPrefix(variable, "GOOGLE_")
}

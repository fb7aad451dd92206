// SPDX-License-Identifier: Apache-2.0

package served

import (
	"context"

	"k8s.io/client-go/openapi"
)

// document is where the group's is found.
func document(ctx context.Context, hub openapi.ClientWithContext) (found openapi.GroupVersionWithContext, served bool, err error) {
	documents, err := hub.PathsWithContext(ctx)
	if err != nil {
		return nil, false, err
	}
	found, served = documents["apis/"+groupVersion.String()]
	return found, served, nil
}

// faultsIn reads a document, and tells what is wrong with our kinds, by kind.
func faultsIn(ctx context.Context, document openapi.GroupVersionWithContext) (map[string]error, error) {
	text, err := document.SchemaWithContext(ctx, "application/json")
	if err != nil {
		return nil, err
	}
	schemas, err := parse(text)
	return faultsOf(schemas), err
}

// Faults tells once what a [Checker] tells all the time: what is wrong with our kinds as the hub serves them, by kind.
func Faults(ctx context.Context, hub openapi.ClientWithContext) (map[string]error, error) {
	document, served, err := document(ctx, hub)
	switch {
	case err != nil:
		return nil, err
	case !served:
		return faultsOf(nil), nil
	}
	return faultsIn(ctx, document)
}

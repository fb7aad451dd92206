// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
)

// serveValues lets values be set and taken away, by plain HTTP.
func serveValues(address string, custom *custom, external *external) error {
	mux := http.NewServeMux()
	custom.install(mux)
	external.install(mux)
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 3 * time.Second}
	return fmt.Errorf("serving values: %w", server.ListenAndServe())
}

// parseValue reads a quantity, with or without quotes, and the labels of its series.
func parseValue(r *http.Request) (resource.Quantity, labels.Set, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<10))
	if err != nil {
		return resource.Quantity{}, nil, err
	}
	quantity, err := resource.ParseQuantity(strings.Trim(strings.TrimSpace(string(body)), `"`))
	if err != nil {
		return resource.Quantity{}, nil, err
	}
	set, err := labels.ConvertSelectorToLabelsMap(r.URL.Query().Get("labels"))
	return quantity, set, err
}

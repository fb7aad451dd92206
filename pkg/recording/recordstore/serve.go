// SPDX-License-Identifier: Apache-2.0

package recordstore

import (
	"net/http"
	"time"

	"github.com/fleetscale/fleetscale/pkg/recording"
)

// Path is where the record is, with the parameters namespace, name (both empty: all) and since (RFC 3339).
const Path = "/decisions"

// Handler answers one request after another: each reads all segments.
func (s *Store) Handler() http.Handler {
	mux, one := http.NewServeMux(), make(chan struct{}, 1)
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, r *http.Request) {
		namespace, name := r.FormValue("namespace"), r.FormValue("name")
		var since time.Time
		if text := r.FormValue("since"); text != "" {
			var err error
			if since, err = time.Parse(time.RFC3339, text); err != nil {
				http.Error(w, "since: "+err.Error(), http.StatusBadRequest)
				return
			}
		}
		select {
		case one <- struct{}{}:
			defer func() { <-one }()
		default:
			w.Header().Set("Retry-After", "5")
			http.Error(w, "somebody else reads the record", http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		err := s.Copy(r.Context(), w, func(o recording.Object) bool {
			return (namespace == "" || o.Namespace == namespace) && (name == "" || o.Name == name)
		}, since)
		if err != nil {
			panic(http.ErrAbortHandler) // who reads it must not take it for whole
		}
	})
	return mux
}

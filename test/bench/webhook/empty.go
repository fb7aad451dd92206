// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Argument has a program's main call ServeEmpty with what follows it.
const Argument = "serve-empty-webhook"

// ServeEmpty allows all that it is asked about, on a port of this machine. Its
// arguments are the port, and the files of a certificate and of its key.
func ServeEmpty(args []string) error {
	const want = 3
	if len(args) != want {
		return fmt.Errorf("serving an empty webhook: %d arguments, want a port and two files", len(args))
	}
	server := http.Server{Addr: net.JoinHostPort("127.0.0.1", args[0]), Handler: &empty{}, ReadHeaderTimeout: time.Minute}
	return server.ListenAndServeTLS(args[1], args[2])
}

// empty is the least that a webhook can do. To GET it tells how often it was asked.
type empty struct{ asked atomic.Int64 }

func (e *empty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprint(w, e.asked.Load())
		return
	}
	e.asked.Add(1)
	var review struct{ Request struct{ UID types.UID } }
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := admissionv1.AdmissionReview{Response: &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}}
	answer.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // to an asker who has gone
}

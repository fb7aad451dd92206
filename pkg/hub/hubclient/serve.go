// SPDX-License-Identifier: Apache-2.0

package hubclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

const (
	// timeout bounds a request as a whole; who asks is one person.
	timeout = 10 * time.Second
	// mostHeader bounds its header, in bytes.
	mostHeader = 16 << 10
)

// Serve answers on an address until ctx ends. What is served is what the hub tells whoever may read these objects, with the statuses that
// the program would write, to whoever reaches the address: so it is one that leads to this machine, or Pod, alone.
func (o *Observed) Serve(ctx context.Context, address string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serving what is observed: %w", err)
	}
	server := &http.Server{
		Handler: o.Handler(), ReadTimeout: timeout, WriteTimeout: timeout, IdleTimeout: time.Minute, MaxHeaderBytes: mostHeader,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving what is observed: %w", err)
	}
	return nil
}

// Handler answers for single objects at the paths that they have on the hub, and in its words.
func (o *Observed) Handler() http.Handler {
	mux := http.NewServeMux()
	prefix := "GET /apis/" + v1alpha1.SchemeGroupVersion.String() + "/namespaces/{namespace}/"
	for resource, kind := range map[string]string{
		"federatedhpas": v1alpha1.FederatedHPAKind, "cronfederatedhpas": v1alpha1.CronFederatedHPAKind,
		"multidimpodautoscalers": v1alpha1.MultidimPodAutoscalerKind,
	} {
		mux.HandleFunc(prefix+resource+"/{name}", func(w http.ResponseWriter, r *http.Request) {
			key := client.ObjectKey{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
			o.answer(w, r, key, v1alpha1.SchemeGroupVersion.WithResource(resource).GroupResource(), kind)
		})
	}
	return local(mux)
}

// local answers those who name this machine only: a page of another name, which was made to lead here, has that in its requests.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.Unmap().IsLoopback()) {
			http.Error(w, "ask at localhost", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (o *Observed) answer(w http.ResponseWriter, r *http.Request, key client.ObjectKey, resource schema.GroupResource, kind string) {
	made, err := o.Scheme().New(v1alpha1.SchemeGroupVersion.WithKind(kind))
	object, is := made.(client.Object)
	if err != nil || !is {
		refuse(w, fmt.Errorf("%s is no kind of the hub: %w", kind, err))
		return
	}
	if err := o.Get(r.Context(), key, object); err != nil {
		refuse(w, err)
		return
	}
	if o.kept.of(object) == nil {
		unknown := apierrors.NewNotFound(resource, key.Name)
		unknown.ErrStatus.Message = fmt.Sprintf("nothing has been decided of %s %q yet", resource, key.Name)
		refuse(w, unknown)
		return
	}
	object.GetObjectKind().SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(kind))
	reply(w, http.StatusOK, object)
}

// refuse says why there is no object, in the form of an API server.
func refuse(w http.ResponseWriter, err error) {
	status := apierrors.NewInternalError(err).Status()
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		status = known.Status()
	}
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	reply(w, int(status.Code), &status)
}

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

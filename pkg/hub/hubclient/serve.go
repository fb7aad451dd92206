// SPDX-License-Identifier: Apache-2.0

package hubclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Handler answers for single objects at the paths that they have on the hub, and in its words, with the statuses that the program would
// write.
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
	return mux
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

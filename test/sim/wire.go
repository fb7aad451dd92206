// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	customv1beta1 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta1"
	customv1beta2 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	externalv1beta1 "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	fleetscalev1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
)

// newScheme knows all that goes over the wire.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, autoscalingv1.AddToScheme, autoscalingv2.AddToScheme, eventsv1.AddToScheme, v1alpha1.AddToScheme,
		fleetscalev1alpha1.AddToScheme, admissionv1.AddToScheme,
		authenticationv1.AddToScheme, authorizationv1.AddToScheme, metav1.AddMetaToScheme,
		metricsv1beta1.AddToScheme, customv1beta1.AddToScheme, customv1beta2.AddToScheme, externalv1beta1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err) // the libraries' types do not fit each other
		}
	}
	return scheme
}

const (
	mediaJSON     = "application/json"
	mediaProtobuf = "application/vnd.kubernetes.protobuf"
)

// format is how an answer is written.
type format struct {
	media string
	// metadata is true when only the objects' metadata is wanted.
	metadata bool
}

// formatOf takes the first that is accepted and that we have.
func formatOf(accept string) (format, bool) {
	if accept == "" {
		return format{media: mediaJSON}, true
	}
	for clause := range strings.SplitSeq(accept, ",") {
		media, parameters, err := mime.ParseMediaType(strings.TrimSpace(clause))
		if err != nil {
			continue
		}
		f := format{media: media}
		switch media {
		case mediaJSON, mediaProtobuf:
		case "*/*", "application/*":
			f.media = mediaJSON
		default:
			continue
		}
		switch parameters["as"] {
		case "":
		case "PartialObjectMetadata", "PartialObjectMetadataList":
			f.metadata = true
		default:
			continue // tables, and discovery in one piece
		}
		return f, true
	}
	return format{}, false
}

func (f format) info(codecs serializer.CodecFactory) runtime.SerializerInfo {
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), f.media)
	return info
}

// encode writes an object as it is in its version.
func (f format) encode(codecs serializer.CodecFactory, o runtime.Object, gv schema.GroupVersion) ([]byte, error) {
	var body bytes.Buffer
	if err := codecs.EncoderForVersion(f.info(codecs).Serializer, gv).Encode(o, &body); err != nil {
		return nil, fmt.Errorf("encoding %T: %w", o, err)
	}
	return body.Bytes(), nil
}

// formatOf is how objects of a version are written: those of custom resources have no form in protobuf.
func (m *Member) formatOf(r *http.Request, gv schema.GroupVersion) format {
	f, _ := formatOf(r.Header.Get("Accept"))
	if custom := gv == v1alpha1.SchemeGroupVersion || gv == fleetscalev1alpha1.SchemeGroupVersion; custom && !f.metadata {
		f.media = mediaJSON
	}
	return f
}

// reply answers with an object.
func (m *Member) reply(w http.ResponseWriter, r *http.Request, code int, o runtime.Object, gv schema.GroupVersion) {
	f := m.formatOf(r, gv)
	body, err := f.encode(m.codecs, o, gv)
	if err != nil {
		refuse(w, r, apierrors.NewInternalError(err))
		return
	}
	send(w, r, code, f.media, body)
}

// As a kube-apiserver does, and the servers behind it.
const compressedFrom = 128 << 10

func send(w http.ResponseWriter, r *http.Request, code int, media string, body []byte) {
	w.Header().Set("Content-Type", media)
	if len(body) < compressedFrom || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.WriteHeader(code)
		_, _ = w.Write(body) // the client may have gone
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.WriteHeader(code)
	zip, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	_, _ = zip.Write(body)
	_ = zip.Close()
}

// refuse answers with a Status, which all clients take in JSON.
func refuse(w http.ResponseWriter, r *http.Request, err *apierrors.StatusError) {
	status := err.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	body, encodingErr := json.Marshal(status)
	if encodingErr != nil {
		panic(encodingErr) // no Status can fail so
	}
	send(w, r, int(status.Code), mediaJSON, body)
}

func failure(code int) *apierrors.StatusError {
	if code == 0 {
		code = http.StatusServiceUnavailable
	}
	return apierrors.NewGenericServerResponse(code, "get", schema.GroupResource{}, "", "simulated failure", 0, false)
}

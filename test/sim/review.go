// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"io"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
)

const (
	authenticationGroup = "authentication.k8s.io"
	authorizationGroup  = "authorization.k8s.io"
)

// serveReview grants all that a server behind this one asks about: the
// member's own token is an administrator's, and may do everything.
func (m *Member) serveReview(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	o, refused := m.read(r)
	if refused != nil {
		refuse(w, r, refused)
		return
	}
	switch review := o.(type) {
	case *authenticationv1.TokenReview:
		review.Status.Authenticated = review.Spec.Token == m.token
		review.Status.User = authenticationv1.UserInfo{Username: "admin", Groups: []string{"system:masters"}}
	case *authorizationv1.SubjectAccessReview:
		review.Status.Allowed = true
	default:
		http.NotFound(w, r)
		return
	}
	m.reply(w, r, http.StatusCreated, o, schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion})
}

// read decodes what a request brings.
func (m *Member) read(r *http.Request) (runtime.Object, *apierrors.StatusError) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return m.decode(body)
}

func (m *Member) decode(body []byte) (runtime.Object, *apierrors.StatusError) {
	o, _, err := m.codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return o, nil
}

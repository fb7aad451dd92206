// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

const (
	// mostAnswer bounds what a member may answer.
	mostAnswer = 64 << 10
	// probePath is what every credential of deploy/member and deploy/member-write may get.
	probePath = "/api/v1/namespaces/kube-system"
)

// server is the API server of a member, as one registration leads there.
type server struct {
	peer *connection.Peer
}

func newServer(cluster string, o connection.Options) server {
	return server{connection.NewPeer(cluster, o, nil, func(fleet.Reason) {}, nil)}
}

// lets is nil if the server accepts the endpoint's credentials.
func (s server) lets(ctx context.Context, e registration.Endpoint) error {
	c, err := s.peer.Connect(e)
	if err != nil {
		return err
	}
	defer c.Retire()
	_, code, err := c.Get(ctx, probePath)
	if err != nil {
		return reworded(err)
	}
	if code != http.StatusOK {
		return fmt.Errorf("%d to GET %s", code, probePath)
	}
	return nil
}

// issue asks for a token of the account, which is the same as the present one but for its time.
func (s server) issue(ctx context.Context, e registration.Endpoint, present claims) (string, error) {
	c, err := s.peer.Connect(e)
	if err != nil {
		return "", err
	}
	defer c.Retire()
	wished := int64(max(present.life(), leastLife).Seconds())
	asked := authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences: present.audiences, ExpirationSeconds: &wished,
	}}
	asked.SetGroupVersionKind(authenticationv1.SchemeGroupVersion.WithKind("TokenRequest"))
	if present.bound != (authenticationv1.BoundObjectReference{}) {
		asked.Spec.BoundObjectRef = &present.bound
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return "", err
	}
	var answer authenticationv1.TokenRequest
	err = c.Client().Post().AbsPath(tokenPath(present.account)).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).
		MaxRetries(0).Do(ctx).Into(&answer)
	if err != nil {
		return "", fmt.Errorf("POST %s: %w", tokenPath(present.account), reworded(err))
	}
	return answer.Status.Token, nil
}

func tokenPath(account types.NamespacedName) string {
	return "/api/v1/namespaces/" + account.Namespace + "/serviceaccounts/" + account.Name + "/token"
}

// reworded says in words of our own what a member refuses: its own words may repeat what it was sent.
func reworded(err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		silence, absent := fleet.Classify(err)
		if absent {
			return errors.New("it is not there")
		}
		return silence
	}
	switch code := status.Status().Code; code {
	case http.StatusForbidden:
		return errors.New("403: the identity that writes lacks the right to create tokens; apply deploy/member-write again")
	case http.StatusNotFound:
		return errors.New("404: there is no such account; apply deploy/member-write again")
	default:
		return fmt.Errorf("%d", code)
	}
}

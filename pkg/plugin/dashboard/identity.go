// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	authenticationv1client "k8s.io/client-go/kubernetes/typed/authentication/v1"
	"k8s.io/client-go/rest"
)

const (
	// askTimeout bounds how long the hub may take to say who somebody is.
	askTimeout = 10 * time.Second
	// mostToken bounds a token, in bytes: those of single sign-on name all groups of a person.
	mostToken = 16 << 10
)

var (
	errRefused = errors.New("the hub does not accept this token: it may have expired")
	errUnnamed = errors.New("the hub does not tell whose token this is, which takes the ClusterRole system:basic-user")

	// tokenForm is that of RFC 6750.
	tokenForm = regexp.MustCompile(`^[A-Za-z0-9\-._~+/]+=*$`)
)

func isToken(text string) bool { return len(text) <= mostToken && tokenForm.MatchString(text) }

// asReader is how the hub is asked with a reader's token, and with nothing else. Refused is called whenever the hub does not accept it.
func asReader(hub *rest.Config, token string, refused func()) *rest.Config {
	config := rest.AnonymousClientConfig(hub)
	config.BearerToken = token
	config.Timeout = 0 // of all that is asked, watches included; lists have their own
	config.QPS, config.Burst = 50, 100
	config.WarningHandler = rest.NoWarnings{} // they are the reader's, and no log's
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &doorkeeper{next: next, refused: refused} })
	return config
}

// doorkeeper notices that the hub refuses who asks.
type doorkeeper struct {
	next    http.RoundTripper
	refused func()
}

func (d *doorkeeper) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := d.next.RoundTrip(r)
	if err == nil && answer.StatusCode == http.StatusUnauthorized {
		d.refused()
	}
	return answer, err
}

// WrappedRoundTripper lets libraries unwrap the transport.
func (d *doorkeeper) WrappedRoundTripper() http.RoundTripper { return d.next }

// whose asks the hub by whom it is asked.
func whose(ctx context.Context, reader *rest.Config) (name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	hub, err := authenticationv1client.NewForConfig(reader)
	if err != nil {
		return "", fmt.Errorf("preparing to reach the hub: %w", err)
	}
	review, err := hub.SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	switch {
	case apierrors.IsUnauthorized(err):
		return "", errRefused
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		return "", errUnnamed
	case err != nil:
		return "", fmt.Errorf("asking the hub whose token this is: %w", err)
	}
	info := review.Status.UserInfo
	if info.Username == "" || slices.Contains(info.Groups, user.AllUnauthenticated) {
		return "", errRefused // a hub that knows no tokens takes everybody for nobody
	}
	return info.Username, nil
}

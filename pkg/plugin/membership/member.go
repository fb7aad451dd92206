// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	// fieldManager is who applies, by its name in managedFields.
	fieldManager = "kubectl-fleetscale"
	// requestTimeout bounds each request to the hub and to members, unless the person gives another bound.
	requestTimeout = 15 * time.Second
	// objectsAppear is how long the member may take to make what follows from an object, such as the ConfigMap of a namespace.
	objectsAppear = 30 * time.Second
)

// cluster is one API server, with the person's rights there.
type cluster struct {
	context string
	config  *rest.Config
	typed   kubernetes.Interface
	objects dynamic.Interface
}

func connect(name string, config *rest.Config) (*cluster, error) {
	config = rest.CopyConfig(config)
	config.Timeout, config.QPS, config.Burst = cmp.Or(config.Timeout, requestTimeout), 50, 300 // as kubectl's
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfig(config)
	return &cluster{context: name, config: config, typed: typed, objects: objects}, err
}

// uid is that of the namespace kube-system, by which a cluster is known.
func (c *cluster) uid(ctx context.Context) (types.UID, error) {
	namespace, err := c.typed.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("the cluster of context %q does not tell its uid: %w", c.context, err)
	}
	return namespace.UID, nil
}

// hasWriter reports whether the cluster has the account that writes.
func (c *cluster) hasWriter(ctx context.Context) (bool, error) {
	_, err := c.typed.CoreV1().ServiceAccounts(memberNamespace).Get(ctx, writer, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading ServiceAccount %s/%s in the cluster of context %q: %w", memberNamespace, writer, c.context, err)
	}
	return true, nil
}

func (c *cluster) resource(o *unstructured.Unstructured) dynamic.ResourceInterface {
	plural, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	if o.GetNamespace() == "" {
		return c.objects.Resource(plural)
	}
	return c.objects.Resource(plural).Namespace(o.GetNamespace())
}

func describe(o *unstructured.Unstructured) string {
	if o.GetNamespace() == "" {
		return o.GetKind() + " " + o.GetName()
	}
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}

// apply has the cluster hold the object as it is given.
func (c *cluster) apply(ctx context.Context, o *unstructured.Unstructured, dryRun, force bool) error {
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: force}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	_, err := c.resource(o).Apply(ctx, o.GetName(), o, options)
	switch {
	case err == nil:
		return nil
	case apierrors.IsConflict(err):
		return fmt.Errorf("%s in the cluster of context %q was changed by somebody else: %w; give --force-conflicts to have it as deploy/ says",
			describe(o), c.context, err)
	case apierrors.IsNotFound(err) && o.GetNamespace() == "":
		return fmt.Errorf("the cluster of context %q does not serve %s, which %s needs: it may be too old (%w)", c.context, o.GroupVersionKind(),
			o.GetName(), err)
	}
	return fmt.Errorf("applying %s in the cluster of context %q: %w", describe(o), c.context, err)
}

// remove deletes the object, if it is there; one that is not labelled as ours is an error.
func (c *cluster) remove(ctx context.Context, o *unstructured.Unstructured) error {
	there, err := c.resource(o).Get(ctx, o.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err == nil && there.GetLabels()[partOf] != ours:
		return fmt.Errorf("%s in the cluster of context %q lacks the label %s=%s and was not deleted: if it is fleetscale's, delete it by hand",
			describe(o), c.context, partOf, ours)
	case err == nil:
		same := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(there.GetUID()))}
		err = c.resource(o).Delete(ctx, o.GetName(), same)
	}
	if err == nil || apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("deleting %s in the cluster of context %q: %w", describe(o), c.context, err)
}

// authority is what the cluster has its own Pods verify its API server by.
func (c *cluster) authority(ctx context.Context) (pem []byte, err error) {
	const name, key = "kube-root-ca.crt", "ca.crt"
	waited := wait.PollUntilContextTimeout(ctx, time.Second, objectsAppear, true, func(ctx context.Context) (bool, error) {
		m, getErr := c.typed.CoreV1().ConfigMaps(memberNamespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(getErr):
			return false, nil
		case getErr != nil:
			return false, getErr
		}
		pem = []byte(m.Data[key])
		return len(pem) > 0, nil
	})
	if waited != nil {
		return nil, fmt.Errorf("ConfigMap %s/%s, with the certificate authority of the cluster of context %q: %w", memberNamespace, name,
			c.context, waited)
	}
	return pem, nil
}

// way is how the hub is to reach the cluster: as the context does, unless another server is given.
func (c *cluster) way(server string) (w way, complete bool, err error) {
	config := rest.CopyConfig(c.config)
	if err := rest.LoadTLSFiles(config); err != nil {
		return way{}, false, fmt.Errorf("context %q: %w", c.context, err)
	}
	if server == "" || server == config.Host {
		return way{server: config.Host, serverName: config.ServerName, authority: config.CAData}, !config.Insecure, nil
	}
	return way{server: server}, false, nil
}

// token is a new one of the account.
func (c *cluster) token(ctx context.Context, account string, life time.Duration) (token string, expires time.Time, err error) {
	seconds := int64(life.Seconds())
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	answer, err := c.typed.CoreV1().ServiceAccounts(memberNamespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("asking for a token of ServiceAccount %s/%s in the cluster of context %q: %w", memberNamespace,
			account, c.context, err)
	}
	return answer.Status.Token, answer.Status.ExpirationTimestamp.Time, nil
}

// admits is nil if the cluster accepts a token that it has issued. One of an account that was just made may take a moment.
func (c *cluster) admits(ctx context.Context, token string) error {
	config := rest.AnonymousClientConfig(c.config)
	config.BearerToken, config.Timeout = token, requestTimeout
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	var last error
	waited := wait.PollUntilContextTimeout(ctx, time.Second, objectsAppear, true, func(ctx context.Context) (bool, error) {
		_, last = client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
		return last == nil, nil
	})
	if waited == nil {
		return nil
	}
	return fmt.Errorf("the cluster of context %q does not accept the token that it issued (%s): nothing was written to the hub", c.context,
		word(last))
}

// word says in few words of our own what a server refused: its own may repeat what it was sent.
func word(err error) string {
	if code := apierrors.ReasonForError(err); code != metav1.StatusReasonUnknown {
		return string(code)
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return http.StatusText(int(status.Status().Code))
	}
	return "no answer"
}

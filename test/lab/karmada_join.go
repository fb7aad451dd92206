// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const (
	joinTimeout     = 2 * time.Minute
	karmadaLifetime = 24 * time.Hour // of credentials: longer than any lab
)

// joinKarmada has all members join, and returns when Karmada says that they are Ready.
func (l *Lab) joinKarmada(ctx context.Context, members []Member) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, m := range members {
		group.Go(func() error {
			member, err := l.Cluster(m.Name)
			if err == nil && m.Pull {
				err = l.startKarmadaAgent(ctx, member)
			} else if err == nil {
				err = l.pushJoin(ctx, member)
			}
			if err == nil {
				err = l.awaitKarmadaCluster(ctx, m.Name)
			}
			if err != nil {
				return fmt.Errorf("joining %s to Karmada: %w", m.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// startKarmadaAgent has a member register itself, in Pull mode. The agent reports credentials, as it does by default.
func (l *Lab) startKarmadaAgent(ctx context.Context, member *Cluster) error {
	name := member.processName("karmada-agent")
	kubeconfig, err := l.karmadaKubeconfig(name)
	if err != nil {
		return err
	}
	ports, err := l.FreePorts(1)
	if err != nil {
		return err
	}
	address := fmt.Sprintf("127.0.0.1:%d", ports[0])
	return l.runKarmada(ctx, name, "agent", "http://"+address+"/healthz",
		"--karmada-kubeconfig="+kubeconfig,
		"--kubeconfig="+member.Kubeconfig,
		"--cluster-name="+member.Name,
		"--cluster-api-endpoint="+member.URL,
		"--cluster-status-update-frequency=10s",
		"--leader-elect=false",
		"--health-probe-bind-address="+address,
		"--metrics-bind-address=0",
		"--feature-gates=CustomizedClusterResourceModeling=true,MultiClusterService=true",
	)
}

// pushJoin does what "karmadactl join" does: an account in the member that may do everything, one that may impersonate, and a
// Cluster with the credentials of both.
func (l *Lab) pushJoin(ctx context.Context, member *Cluster) error {
	client, err := member.Client()
	if err != nil {
		return err
	}
	account, impersonator := "karmada-"+member.Name, "karmada-impersonator"
	if err := createKarmadaAccounts(ctx, client, account, impersonator); err != nil {
		return err
	}
	system, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the identity of %s: %w", member.Name, err)
	}
	credentials, credentialsErr := member.karmadaSecret(ctx, account, member.Name)
	impersonation, impersonationErr := member.karmadaSecret(ctx, impersonator, member.Name+"-impersonator")
	if err := errors.Join(credentialsErr, impersonationErr); err != nil {
		return err
	}
	return l.Hub().apply(ctx, credentials, impersonation, fmt.Sprintf(`
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: %[1]s}
spec:
  syncMode: Push
  id: %[2]q
  apiEndpoint: %[3]q
  secretRef: {namespace: %[4]s, name: %[1]s}
  impersonatorSecretRef: {namespace: %[4]s, name: %[1]s-impersonator}
`, member.Name, system.UID, member.URL, karmadaClusters))
}

func createKarmadaAccounts(ctx context.Context, client kubernetes.Interface, adminAccount string, others ...string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: karmadaClusters, Labels: map[string]string{"karmada.io/system": "true"},
	}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return err
	}
	for _, name := range append([]string{adminAccount}, others...) {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := client.CoreV1().ServiceAccounts(karmadaClusters).Create(ctx, account, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: adminAccount},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: karmadaClusters, Name: adminAccount}},
	}
	_, err := client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{})
	return err
}

// karmadaSecret is what the hub keeps of an account of the cluster.
func (c *Cluster) karmadaSecret(ctx context.Context, account, name string) (string, error) {
	token, err := c.ServiceAccountToken(ctx, karmadaClusters, account, karmadaLifetime)
	if err != nil {
		return "", err
	}
	ca, err := c.CA()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {namespace: %s, name: %s}\ndata: {token: %s, caBundle: %s}\n",
		karmadaClusters, name, base64.StdEncoding.EncodeToString([]byte(token)), base64.StdEncoding.EncodeToString(ca)), nil
}

func (l *Lab) awaitKarmadaCluster(ctx context.Context, name string) error {
	client, err := l.Hub().Dynamic()
	if err != nil {
		return err
	}
	clusters := client.Resource(schema.GroupVersionResource{Group: "cluster.karmada.io", Version: "v1alpha1", Resource: "clusters"})
	last := "it is not registered"
	err = wait.PollUntilContextTimeout(ctx, applyInterval, joinTimeout, true, func(ctx context.Context) (bool, error) {
		cluster, err := clusters.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			last = err.Error()
			return false, nil
		}
		var ready bool
		ready, last = karmadaReady(cluster)
		return ready, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until Karmada says that it is Ready: %w: %s", err, last)
	}
	return nil
}

func karmadaReady(cluster *unstructured.Unstructured) (ready bool, why string) {
	conditions, _, _ := unstructured.NestedSlice(cluster.Object, "status", "conditions")
	for _, c := range conditions {
		if condition, ok := c.(map[string]any); ok && condition["type"] == "Ready" {
			return condition["status"] == "True", fmt.Sprint(condition["message"])
		}
	}
	return false, "it has no condition Ready yet"
}

// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// InstallKarmada applies what each run of Karmada's installers applies to a control plane: its kinds, also FederatedHPA and
// CronFederatedHPA, and the configurations of its webhooks. What others have changed in them is lost.
func (l *Lab) InstallKarmada(ctx context.Context) error {
	if err := l.installKarmadaKinds(ctx); err != nil {
		return err
	}
	return l.installKarmadaWebhooks(ctx)
}

// InstallKarmadaMetricsAPIs applies what Karmada's installers apply for its metrics adapter, which does not run here: APIServices of
// metrics.k8s.io/v1beta1 and custom.metrics.k8s.io, which lead to the Service of [KarmadaMetricsAdapter].
func (l *Lab) InstallKarmadaMetricsAPIs(ctx context.Context) error {
	manifests, err := os.ReadFile(filepath.Join(l.state.Karmada.Files, "artifacts/deploy/karmada-metrics-adapter-apiservice.yaml"))
	if err != nil {
		return fmt.Errorf("reading the APIServices of Karmada: %w", err)
	}
	return l.applyKarmada(ctx, string(manifests))
}

// KarmadaMetricsAdapter is the Service of Karmada's metrics adapter: namespace and name.
const KarmadaMetricsAdapter = karmadaSystem + "/karmada-metrics-adapter"

func (l *Lab) installKarmadaKinds(ctx context.Context) error {
	kinds := l.Kubectl(ctx, "kustomize", filepath.Join(l.state.Karmada.Files, "charts/karmada/_crds"))
	manifests, err := kinds.Output()
	if err != nil {
		return fmt.Errorf("rendering the kinds of Karmada: %w", err)
	}
	return l.applyKarmada(ctx, string(manifests))
}

func (l *Lab) installKarmadaWebhooks(ctx context.Context) error {
	manifests, err := os.ReadFile(filepath.Join(l.state.Karmada.Files, "artifacts/deploy/webhook-configuration.yaml"))
	if err != nil {
		return fmt.Errorf("reading the webhooks of Karmada: %w", err)
	}
	return l.applyKarmada(ctx, string(manifests))
}

// letProxy lets the lab's administrator reach members through the control plane, as "karmadactl top" does.
func (l *Lab) letProxy(ctx context.Context) error {
	manifests, err := os.ReadFile(filepath.Join(l.state.Karmada.Files, "artifacts/deploy/cluster-proxy-admin-rbac.yaml"))
	if err != nil {
		return fmt.Errorf("reading the rights of Karmada's administrator: %w", err)
	}
	return l.applyKarmada(ctx, strings.ReplaceAll(string(manifests), "system:admin", administrator))
}

// applyKarmada fills in what Karmada's scripts fill in, and applies it. The webhook is on this machine.
func (l *Lab) applyKarmada(ctx context.Context, manifests string) error {
	ca, err := l.Hub().CA()
	if err != nil {
		return err
	}
	manifests = strings.NewReplacer(
		"{{name}}", karmadaWebhook, "{{namespace}}", karmadaSystem, "{{caBundle}}", base64.StdEncoding.EncodeToString(ca),
	).Replace(manifests)
	manifests = strings.ReplaceAll(manifests, "https://"+karmadaWebhook+"."+karmadaSystem+".svc:443/",
		local(l.state.Karmada.WebhookPort, "/"))
	return l.Hub().apply(ctx, strings.Split(manifests, "\n---\n")...)
}

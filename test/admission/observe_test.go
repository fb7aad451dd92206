// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// What was asked and answered can be read as metrics, by kind, operation, result
// and rule.
func TestMetricsAndHealth(t *testing.T) {
	e := hub(t)
	w := e.asked(t, 1)[0]
	client := e.client(t)
	if _, err := client.try(t.Context(), "default", probe("good", 3)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.try(t.Context(), "default", probe("bad", 0)); err == nil {
		t.Fatal("it is let through")
	}
	code, text := get(t, w.Metrics())
	if code != http.StatusOK {
		t.Errorf("metrics: %d", code)
	}
	for _, want := range []string{
		`fleetscale_admission_duration_seconds_count{kind="FederatedHPA",operation="CREATE",result="allowed",webhook="validate"} 1`,
		`fleetscale_admission_duration_seconds_count{kind="FederatedHPA",operation="CREATE",result="refused",webhook="validate"} `,
		`fleetscale_admission_duration_seconds_count{kind="FederatedHPA",operation="CREATE",result="allowed",webhook="mutate"} `,
		`fleetscale_admission_refusals_total{kind="FederatedHPA",operation="CREATE",rule="ResourceName"} `,
		"fleetscale_serving_certificate_expiration_timestamp_seconds ",
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if code, text := get(t, w.Health(path)); code != http.StatusOK {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
}

// A replica that nobody could verify is alive, and not ready.
func TestNotReadyWithoutCertificate(t *testing.T) {
	e := hub(t)
	e.install(t)
	e.kubectl(t, "-n", fixture.SystemNamespace, "delete", "secret", fixture.WebhookSecret)
	w, program, err := e.NewWebhook(t.Context(), e.Hub(), e.program, "webhook-without-secret", hasty()...)
	if err != nil {
		t.Fatal(err)
	}
	program.Ready = nil
	if w.Process, err = e.Run(t.Context(), program); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Kill() })
	await(t, func(ctx context.Context) error {
		code, text, err := ask(ctx, w.Health("/readyz?verbose"))
		if err == nil && (code == http.StatusOK || !strings.Contains(text, "[-]certificate failed") ||
			!strings.Contains(text, "[+]autoscalers-known ok")) {
			err = fmt.Errorf("it says %d %s", code, text)
		}
		return err
	})
	if code, _ := get(t, w.Health("/healthz")); code != http.StatusOK {
		t.Errorf("healthz: %d", code)
	}
	if err := e.InstallWebhook(t.Context(), e.Hub(), e.front.Port()); err != nil {
		t.Fatal(err)
	}
	await(t, lab.HTTPReady(w.Health("/readyz")))
}

func get(t *testing.T, url string) (code int, text string) {
	t.Helper()
	code, text, err := ask(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return code, text
}

func ask(ctx context.Context, url string) (code int, text string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/command/commandtest"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestOnLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:8080": true, "127.9.9.9:1": true, "[::1]:8080": true, "[::ffff:127.0.0.1]:8080": true,
		":8443": false, "0.0.0.0:8443": false, "[::]:8443": false, "10.0.0.1:8443": false, "0": false, "": false,
		"localhost:8080": false, // it may be anything
	} {
		if got := OnLoopback(address); got != want {
			t.Errorf("%q is on loopback: %v, want %v", address, got, want)
		}
	}
}

// A page of another name, which was made to lead here, is not answered.
func TestLocal(t *testing.T) {
	for host, want := range map[string]int{
		"127.0.0.1:8082": http.StatusOK, "localhost:8082": http.StatusOK, "localhost": http.StatusOK, "[::1]:8082": http.StatusOK,
		"rebound.example:8082": http.StatusMisdirectedRequest, "10.0.0.1:8082": http.StatusMisdirectedRequest,
	} {
		answer := httptest.NewRecorder()
		local(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(answer, httptest.NewRequest(http.MethodGet,
			"http://"+host+"/", http.NoBody))
		fleettest.Same(t, "status at "+host, want, answer.Code)
	}
}

func TestServeLoopback(t *testing.T) {
	port := commandtest.FreePort(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- ServeLoopback(ctx, "127.0.0.1:"+port, http.NotFoundHandler(), time.Minute) }()
	status := 0
	if err := commandtest.Await(t, func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port, http.NoBody)
		if err != nil {
			return false
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			status = answer.StatusCode
			err = answer.Body.Close()
		}
		return err == nil
	}); err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, "status", http.StatusNotFound, status)
	if err := ServeLoopback(ctx, "127.0.0.1:"+port, nil, time.Minute); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("an address that is taken: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

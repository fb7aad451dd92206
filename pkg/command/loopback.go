// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// NoAddress disables what would be served.
const NoAddress = "0"

// mostHeader bounds the header of a request to a loopback address, in bytes.
const mostHeader = 16 << 10

// OnLoopback is true for addresses of an interface that leads to the same machine only. Names are not looked up.
func OnLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLoopback(host)
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// ValidateLoopback returns an error for an address for [ServeLoopback] that others reach, too. The example is one that does.
func ValidateLoopback(flag, example, address string) error {
	return When(address != NoAddress && !OnLoopback(address), "%s: must be a port of a loopback address, such as %s, or 0; got %s", flag,
		example, address)
}

// ServeLoopback answers at an address until ctx ends, each request for so long at most. Whoever reaches the address is answered: so it is
// one that leads to this machine, or Pod, alone.
func ServeLoopback(ctx context.Context, address string, handler http.Handler, timeout time.Duration) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: local(handler), ReadTimeout: timeout, WriteTimeout: timeout, IdleTimeout: time.Minute, MaxHeaderBytes: mostHeader,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// local answers those who name this machine only: a page of another name, which was made to lead here, has that in its requests.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if host != "localhost" && !isLoopback(host) {
			http.Error(w, "ask at localhost", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// ReasonAddressNotAllowed is for an address at which no member is, but what belongs to the machine or the Pod of this program.
const ReasonAddressNotAllowed fleet.Reason = "AddressNotAllowed"

// dialer connects to members and to their proxies. An address is judged once names are resolved, so that no name leads past it,
// and before anything is sent: a proxy that is refused gets no header.
func dialer(timeout time.Duration, allowLocal bool) *net.Dialer {
	d := &net.Dialer{Timeout: timeout}
	if !allowLocal {
		d.Control = refuseLocal
	}
	return d
}

// refuseLocal is as net.Dialer.Control has it.
func refuseLocal(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err == nil && !isLocal(at.Addr()) {
		return nil
	}
	return fleet.Silencef(ReasonAddressNotAllowed, "%s is no address of a member: link-local and loopback addresses are allowed only with "+
		"--allow-local-members", address)
}

// isLocal is true for addresses that mean something else on each machine: its own (127.0.0.0/8, ::1, and unspecified ones, which
// lead there too) and its link's (169.254.0.0/16, fe80::/10), where clouds tell machines their credentials.
func isLocal(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
}

package temporalkit

import (
	"context"
	"crypto/tls"
	"net"

	"google.golang.org/grpc/credentials"
)

// renewing reads the certificates that the settings name at each handshake. A worker runs
// for longer than many certificates are valid, and those are replaced in their files: with
// the ones that it read at its start it would lose the server at its next connection.
type renewing struct {
	credentials.TransportCredentials
}

func newRenewing(config *tls.Config) renewing { return renewing{credentials.NewTLS(config)} }

// ClientHandshake implements credentials.TransportCredentials. Files that are being replaced
// may not be readable for a moment: what was read before serves as long as it is valid.
func (r renewing) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	now, err := Options{}.settings()
	if config := now.ConnectionOptions.TLS; err == nil && config != nil {
		return credentials.NewTLS(config).ClientHandshake(ctx, authority, conn)
	}
	return r.TransportCredentials.ClientHandshake(ctx, authority, conn)
}

// Clone implements credentials.TransportCredentials.
func (r renewing) Clone() credentials.TransportCredentials {
	return renewing{r.TransportCredentials.Clone()}
}

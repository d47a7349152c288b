//go:build !unix

package visits

import (
	"context"
	"errors"
)

func startCluster(context.Context, Options, bool) (deployment, error) {
	return nil, errors.New("a cluster's Postgres is started on Unix only: name the engine sqlite")
}

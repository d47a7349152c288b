package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// A child can hang. It runs and accepts connections, but its one connection to its database
// is broken, and whatever it is asked fails or takes for ever. One stood so for a quarter of an
// hour, idle, until it was ended; nothing but a new child helps. A child that answers nothing
// because it has more to do than it can is not idle.
const (
	lookEvery    = 30 * time.Second
	lookPatience = 20 * time.Second
	hungAfter    = 6   // looks in a row, thus three minutes
	idleShare    = 0.1 // of a core
)

// pace is how a child is looked at.
type pace struct{ every, patience time.Duration }

// looks counts, without a gap, the looks at a child that was idle and did not answer.
type looks struct {
	missed int
	at     time.Time
	spent  time.Duration // processor time of the child
}

// after returns the looks with another one.
func (l looks) after(answered bool, at time.Time, spent time.Duration) looks {
	idle := !l.at.IsZero() && float64(spent-l.spent) < idleShare*float64(at.Sub(l.at))
	next := looks{at: at, spent: spent}
	if idle && !answered {
		next.missed = l.missed + 1
	}
	return next
}

// watch looks at a child until ctx ends, and reports if it hangs. Where the processor time of
// a process is not known, nobody looks.
func (t *Server) watch(ctx context.Context, child Child) <-chan error {
	hung := make(chan error, 1)
	go func() {
		p := t.look
		if p == (pace{}) {
			p = pace{lookEvery, lookPatience}
		}
		tick := time.NewTicker(p.every)
		defer tick.Stop()
		var l looks
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			err := describe(ctx, child.Address(), p.patience)
			spent, unknown := processorTime(child.PID)
			if unknown != nil || ctx.Err() != nil {
				return
			}
			if l = l.after(answers(err), time.Now(), spent); l.missed >= hungAfter {
				hung <- fmt.Errorf("the Temporal server hangs: idle, and no answer %d times in a row: %w", l.missed, err)
				return
			}
		}
	}()
	return hung
}

// describe asks a server for something that it reads from its database.
func describe(ctx context.Context, address string, patience time.Duration) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	_, err = workflowservice.NewWorkflowServiceClient(conn).DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: "default"})
	return err
}

// answers reports whether the server answered, be it with a refusal.
func answers(err error) bool {
	switch status.Code(err) {
	case codes.OK, codes.NotFound, codes.PermissionDenied, codes.Unauthenticated, codes.InvalidArgument, codes.ResourceExhausted:
		return true
	}
	return false
}

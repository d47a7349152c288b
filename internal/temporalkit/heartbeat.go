package temporalkit

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
)

// beatEvery is the time between two heartbeats. Most activities end before the
// first one and cost none.
const beatEvery = 5 * time.Second

// heartbeats beats for every activity that has a heartbeat time-out while it
// runs. A beat says that the worker lives, not that the activity makes progress:
// its start-to-close time-out bounds that. So the activities of a worker that was
// killed are noticed within seconds, however long they may run.
type heartbeats struct {
	interceptor.WorkerInterceptorBase
}

func (*heartbeats) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	i := &beating{}
	i.Next = next
	return i
}

type beating struct {
	interceptor.ActivityInboundInterceptorBase
}

func (b *beating) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	info := activity.GetInfo(ctx)
	if info.IsLocalActivity || info.HeartbeatTimeout == 0 {
		return b.Next.ExecuteActivity(ctx, in)
	}
	done := make(chan struct{})
	var beats sync.WaitGroup
	beats.Go(func() {
		ticker := time.NewTicker(beatEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				activity.RecordHeartbeat(ctx)
			case <-done:
				return
			}
		}
	})
	defer func() { close(done); beats.Wait() }()
	return b.Next.ExecuteActivity(ctx, in)
}

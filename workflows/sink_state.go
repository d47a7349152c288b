package workflows

import (
	"time"

	"recrawl/internal/contract"
)

// sinkDo is a sink's next step.
type sinkDo int

const (
	sinkSleep   sinkDo = iota // until Wake, or until it is woken
	sinkDeliver               // a batch
	sinkFinish                // complete
)

// sinkNext says what a sink in this state does at this time.
func sinkNext(s *contract.SinkIn, now time.Time) sinkDo {
	switch {
	case s.Last.Ended, s.Done:
		return sinkFinish
	case s.Woken:
		return sinkDeliver
	case s.Last.Paused && s.Last.Stopped:
		return sinkFinish // nothing will come, and the store keeps its progress
	case s.Last.Paused:
		return sinkSleep
	case s.Wake.After(now):
		return sinkSleep
	}
	return sinkDeliver
}

// delivered records the result of a Deliver.
func delivered(s *contract.SinkIn, out contract.DeliverOut, now time.Time) {
	s.Last, s.Failures = out, 0
	s.Last.Problem, s.Last.Reason = clip(out.Problem, maxWords), "" // that is in Why
	s.Sent += int64(out.Sent)
	s.Undelivered += int64(out.Undelivered)
	if !out.Stopped {
		s.Finishing = time.Time{}
	}
	switch {
	case out.More:
		s.Wake, s.Why = time.Time{}, ""
	case out.Wait > 0:
		s.Wake, s.Why = now.Add(out.Wait), clip(out.Reason, maxWords)
	case !out.Stopped:
		s.Wake, s.Why = now.Add(idleLook), "all is delivered"
	case s.Finishing.IsZero():
		s.Finishing = now.Add(finishingFor)
		s.Wake, s.Why = s.Finishing, "the crawl is stopped, and its pages say so"
	default:
		s.Done = !now.Before(s.Finishing)
		s.Wake = s.Finishing
	}
}

// deliverFailed is for a Deliver whose result nobody knows.
func deliverFailed(s *contract.SinkIn, problem string, again time.Time) {
	s.Failures++
	s.Wake, s.Why = again, clip(problem, maxWords)
}

// wakeSink records that there is something to do.
func wakeSink(s *contract.SinkIn, arg contract.SinkWakeArg) {
	s.Woken = true
	s.Asked = s.Asked || arg.Asked
}

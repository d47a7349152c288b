package temporalkit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// answerLimit is how long a workflow may take to answer an update. A busy or disturbed engine
// takes a minute or two; without a worker no answer comes.
const answerLimit = 3 * time.Minute

// answerPause is the pause before an update is sent again.
const answerPause = 200 * time.Millisecond

// ErrNoAnswer: a workflow did not answer in time. What it was asked for may still be done.
var ErrNoAnswer = fmt.Errorf("no answer within %s: is a worker running, and does the store answer?", answerLimit)

// spoken is a workflow's error in its own words. The SDK's words end in a type for programs.
type spoken struct{ *temporal.ApplicationError }

func (s spoken) Error() string { return s.Message() }

func (s spoken) Unwrap() error { return s.ApplicationError }

// inWords reduces a workflow's error to what it says to people: a *crawl.SpecError when it
// refuses a spec. It returns other errors as they are.
func inWords(err error) error {
	var app *temporal.ApplicationError
	switch {
	case !errors.As(err, &app):
		return err
	case app.Type() == contract.ErrTypeBadSpec:
		return &crawl.SpecError{Problem: strings.TrimPrefix(app.Message(), "spec: ")}
	}
	return spoken{app}
}

// answer sends an update and returns the workflow's answer. The SDK's client gives up when one of
// its requests has waited for a minute; so the request is repeated, with the same id, by which the
// server does what it asks for only once.
func answer(ctx context.Context, send func(ctx context.Context, update string) (client.WorkflowUpdateHandle, error)) (ack contract.Ack, err error) {
	update := rand.Text()
	asking, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	for {
		handle, err := send(asking, update)
		if err == nil {
			err = handle.Get(asking, &ack)
		}
		var unanswered *client.WorkflowUpdateServiceTimeoutOrCanceledError
		switch {
		case !errors.As(err, &unanswered):
			return ack, inWords(err)
		case ctx.Err() != nil:
			return ack, ctx.Err()
		case asking.Err() != nil:
			return ack, ErrNoAnswer
		}
		select {
		case <-time.After(answerPause): // for servers that give up at once
		case <-asking.Done():
		}
	}
}

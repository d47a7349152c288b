package temporalkit

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"recrawl/internal/keyring"
)

func ringOf(t *testing.T, name string) keyring.Ring {
	t.Helper()
	ring, err := keyring.Parse(name+"=env:K", func(string) string {
		return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	})
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// TestSummaryFits: Temporal keeps at most 400 bytes of a summary. Ours have at most 200.
func TestSummaryFits(t *testing.T) {
	t.Parallel()
	sealed, err := newConverter(ringOf(t, strings.Repeat("k", 32))).ToPayload(strings.Repeat("s", 200))
	if err != nil || proto.Size(sealed) > 400 {
		t.Errorf("%d bytes, %v", proto.Size(sealed), err)
	}
}

// Data that was changed on the way is not taken for something else.
func TestChangedPayload(t *testing.T) {
	t.Parallel()
	data := newConverter(ringOf(t, "k"))
	sealed, err := data.ToPayload("said")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*commonpb.Payload){
		"data":  func(p *commonpb.Payload) { p.Data[len(p.Data)/2] ^= 1 },
		"short": func(p *commonpb.Payload) { p.Data = p.Data[:3] },
		"key":   func(p *commonpb.Payload) { p.Metadata[sealedKeyField] = []byte("other") },
		"none":  func(p *commonpb.Payload) { delete(p.Metadata, sealedKeyField) },
	} {
		changed, _ := proto.Clone(sealed).(*commonpb.Payload)
		change(changed)
		var got string
		if err := data.FromPayload(changed, &got); !isLocked(err) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// The SDK's name of the error is the one that workflows know.
func TestFailureOfWhoLacksTheKey(t *testing.T) {
	t.Parallel()
	data := newConverter(keyring.Ring{})
	failure := newFailures(keyring.Ring{}, data).ErrorToFailure(&keyring.LockedError{Key: "k", Unknown: true})
	var app *temporal.ApplicationError
	err := newFailures(keyring.Ring{}, data).FailureToError(failure)
	if !errors.As(err, &app) || app.Type() != "LockedError" || app.NonRetryable() {
		t.Errorf("%v", err)
	}
}

// An activity's failure that cannot be read fails the task of the workflow that reads it.
// Otherwise the workflow would take the activity for failed in a different way.
func TestLockedFailurePanicsInAWorkflow(t *testing.T) {
	t.Parallel()
	ring := ringOf(t, "k")
	failure := newFailures(ring, newConverter(ring)).ErrorToFailure(temporal.NewApplicationError("https://secret.example/", "Type", "detail"))
	if text := failure.String(); strings.Contains(text, "secret") || strings.Contains(text, "detail:") {
		t.Errorf("the failure says it: %s", text)
	}
	lacking := newFailures(keyring.Ring{}, newConverter(keyring.Ring{}))
	if err := lacking.FailureToError(failure); !isLocked(err) {
		t.Errorf("outside of a workflow: %v", err)
	}
	defer func() {
		if err, _ := recover().(error); !isLocked(err) {
			t.Errorf("panicked with %v", err)
		}
	}()
	inWorkflow := lacking.WithSerializationContext(converter.ActivitySerializationContext{})
	t.Errorf("no panic: %v", inWorkflow.FailureToError(failure))
}

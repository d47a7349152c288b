package temporalkit

import (
	"context"
	"errors"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"recrawl/internal/keyring"
)

// Temporal's data is encrypted by a codec around the SDK's own converter: inputs,
// results, memos, details and texts of failures, summaries, current details. The codec is
// there even without keys, so that a worker can tell data that it cannot read from an
// error.

// The metadata of an encrypted payload are those of Temporal's samples.
const (
	sealedEncoding = "binary/encrypted"
	sealedKeyField = "encryption-key-id"
)

// codec encrypts whole payloads.
type codec struct{ ring keyring.Ring }

// Encode implements converter.PayloadCodec.
func (c codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	if !c.ring.Encrypts() {
		return payloads, nil
	}
	sealed := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		plain, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		key, data, err := c.ring.Seal(plain)
		if err != nil {
			return nil, err
		}
		sealed[i] = &commonpb.Payload{Data: data, Metadata: map[string][]byte{
			converter.MetadataEncoding: []byte(sealedEncoding), sealedKeyField: []byte(key),
		}}
	}
	return sealed, nil
}

// Decode implements converter.PayloadCodec. Unencrypted payloads stay as they are.
func (c codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	opened := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		opened[i] = p
		if string(p.GetMetadata()[converter.MetadataEncoding]) != sealedEncoding {
			continue
		}
		plain, err := c.ring.Open(string(p.GetMetadata()[sealedKeyField]), p.GetData())
		if err != nil {
			return nil, err
		}
		opened[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(plain, opened[i]); err != nil {
			return nil, err
		}
	}
	return opened, nil
}

// sealedConverter is the SDK's converter with the codec. In a workflow it panics at data
// that it cannot decrypt: that fails the workflow's task, which is tried again until a
// worker with the key takes it. An error would fail the workflow, or drop a signal.
type sealedConverter struct {
	converter.DataConverter
	inWorkflow bool
}

var _ converter.ContextAware = sealedConverter{}

func newConverter(ring keyring.Ring) sealedConverter {
	return sealedConverter{DataConverter: converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), codec{ring})}
}

// FromPayload implements converter.DataConverter.
func (c sealedConverter) FromPayload(payload *commonpb.Payload, to any) error {
	return panicIfLocked(c.inWorkflow, c.DataConverter.FromPayload(payload, to))
}

// FromPayloads implements converter.DataConverter.
func (c sealedConverter) FromPayloads(payloads *commonpb.Payloads, to ...any) error {
	return panicIfLocked(c.inWorkflow, c.DataConverter.FromPayloads(payloads, to...))
}

// WithWorkflowContext implements converter.ContextAware.
func (c sealedConverter) WithWorkflowContext(converter.WorkflowContext) converter.DataConverter {
	c.inWorkflow = true
	return c
}

// WithContext implements converter.ContextAware.
func (c sealedConverter) WithContext(context.Context) converter.DataConverter { return c }

// sealedFailures converts errors, whose texts and details are encrypted too. A failure
// that cannot be decrypted becomes that error, so that the caller learns what is
// missing.
type sealedFailures struct {
	converter.FailureConverter
	data converter.DataConverter
	// inWorkflow: only its workflow reads the failure of an activity.
	inWorkflow bool
}

var _ converter.FailureConverterWithSerializationContext = sealedFailures{}

func newFailures(ring keyring.Ring, data converter.DataConverter) sealedFailures {
	return sealedFailures{data: data, FailureConverter: temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter: data, EncodeCommonAttributes: ring.Encrypts(),
	})}
}

// FailureToError implements converter.FailureConverter.
func (f sealedFailures) FailureToError(failure *failurepb.Failure) error {
	if err := panicIfLocked(f.inWorkflow, lockedFailure(f.data, failure)); err != nil {
		return err
	}
	return f.FailureConverter.FailureToError(failure)
}

// WithSerializationContext implements converter.FailureConverterWithSerializationContext.
func (f sealedFailures) WithSerializationContext(of converter.SerializationContext) converter.FailureConverter {
	_, f.inWorkflow = of.(converter.ActivitySerializationContext)
	return f
}

// lockedFailure is why a failure or one of its causes cannot be decrypted, nil if it can.
func lockedFailure(data converter.DataConverter, failure *failurepb.Failure) error {
	for ; failure != nil; failure = failure.GetCause() {
		payloads := failure.GetApplicationFailureInfo().GetDetails().GetPayloads()
		if text := failure.GetEncodedAttributes(); text != nil {
			payloads = append([]*commonpb.Payload{text}, payloads...)
		}
		for _, p := range payloads {
			var raw converter.RawValue
			if err := data.FromPayload(p, &raw); isLocked(err) {
				return err
			}
		}
	}
	return nil
}

// failureText is the text of a failure.
func failureText(data converter.DataConverter, failure *failurepb.Failure) string {
	if err := lockedFailure(data, failure); err != nil {
		return err.Error()
	}
	failure, _ = proto.Clone(failure).(*failurepb.Failure)
	converter.DecodeCommonFailureAttributes(data, failure)
	return failure.GetMessage()
}

// wantsKey reports whether a workflow task failed, judging by its failure, only because
// its worker lacks a key, or for a reason that we cannot read.
func wantsKey(text string) bool { return strings.Contains(text, keyring.Setting) }

func isLocked(err error) bool {
	var locked *keyring.LockedError
	return errors.As(err, &locked)
}

func panicIfLocked(inWorkflow bool, err error) error {
	if inWorkflow && isLocked(err) {
		panic(err)
	}
	return err
}

// sealedClient is a client with the converter that it was made with, for data that
// the SDK returns as it is stored: memos and histories.
type sealedClient struct {
	client.Client
	data converter.DataConverter
}

// dataOf returns the converter of a client made by Dial. For any other client it
// returns one without keys.
func dataOf(c client.Client) converter.DataConverter {
	if sealed, ok := c.(*sealedClient); ok {
		return sealed.data
	}
	return newConverter(keyring.Ring{})
}

// plainClient is the client as the SDK made it; only that one can have workers.
func plainClient(c client.Client) client.Client {
	if sealed, ok := c.(*sealedClient); ok {
		return sealed.Client
	}
	return c
}

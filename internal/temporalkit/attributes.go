package temporalkit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"recrawl/internal/contract"
)

// attributeType is that of all of recrawl's search attributes.
const attributeType = enumspb.INDEXED_VALUE_TYPE_KEYWORD

// EnsureSearchAttributes registers recrawl's search attributes and waits until
// the server accepts them: a workflow that starts before would fail its first
// task. Where the server does not let us, as on Temporal Cloud, the error has the
// commands to register them.
func EnsureSearchAttributes(ctx context.Context, c client.Client, namespace string) error {
	missing, err := missingAttributes(ctx, c, namespace)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		return nil
	}
	add := map[string]enumspb.IndexedValueType{}
	for _, name := range missing {
		add[name] = attributeType
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{SearchAttributes: add, Namespace: namespace})
	switch {
	case err == nil, strings.Contains(err.Error(), "already exist"):
		return waitForAttributes(ctx, c, namespace)
	case isForbidden(err):
		return forbiddenAttributes(namespace, missing, err)
	}
	return fmt.Errorf("register search attributes %s: %w", strings.Join(missing, ", "), err)
}

// isForbidden reports whether the server does not let us do that, ever.
func isForbidden(err error) bool {
	var denied *serviceerror.PermissionDenied
	var unknown *serviceerror.Unimplemented
	return errors.As(err, &denied) || errors.As(err, &unknown)
}

// forbiddenAttributes is an error with the commands, a line each.
func forbiddenAttributes(namespace string, missing []string, cause error) error {
	create, add := "temporal operator search-attribute create --namespace "+namespace, "tcld namespace search-attributes add --namespace "+namespace
	for _, name := range missing {
		create += fmt.Sprintf(" --name %s --type %s", name, attributeType)
		add += fmt.Sprintf(" --search-attribute %s=%s", name, attributeType)
	}
	return fmt.Errorf("the namespace %s lacks search attributes that recrawl needs, and the server does not let us make them (%w). Have them made, and start again; on a server of your own with\n  %s\nand on Temporal Cloud with\n  %s",
		namespace, cause, create, add)
}

func waitForAttributes(ctx context.Context, c client.Client, namespace string) error {
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	for {
		missing, err := missingAttributes(ctx, c, namespace)
		if err == nil && len(missing) == 0 {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("search attributes did not become visible: %w", ctx.Err())
		}
	}
}

// missingAttributes returns the names of those that the namespace lacks, in order.
func missingAttributes(ctx context.Context, c client.Client, namespace string) ([]string, error) {
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if isForbidden(err) {
		return unusableAttributes(ctx, c, namespace)
	}
	if err != nil {
		return nil, fmt.Errorf("list search attributes of namespace %s: %w", namespace, err)
	}
	var missing []string
	for _, name := range slices.Sorted(slices.Values(contract.SearchAttributes())) {
		got, ok := have.CustomAttributes[name]
		switch {
		case !ok:
			missing = append(missing, name)
		case got != attributeType:
			return nil, fmt.Errorf("search attribute %s exists with type %s, recrawl needs %s: use another namespace", name, got, attributeType)
		}
	}
	return missing, nil
}

// unusableAttributes finds missing attributes by using them, where we may not ask for a
// list: a query with a missing one is refused.
func unusableAttributes(ctx context.Context, c client.Client, namespace string) ([]string, error) {
	var missing []string
	for _, name := range slices.Sorted(slices.Values(contract.SearchAttributes())) {
		_, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: namespace, Query: name + " = 'x'"})
		var invalid *serviceerror.InvalidArgument
		switch {
		case errors.As(err, &invalid):
			missing = append(missing, name)
		case err != nil:
			return nil, fmt.Errorf("look for the search attribute %s of namespace %s: %w", name, namespace, err)
		}
	}
	return missing, nil
}

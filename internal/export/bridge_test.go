package export

import "context"

// ExportWith is Export with a checkpoint after every few pages and a disk that asks
// fault before each change.
func ExportWith(ctx context.Context, src Source, out string, o Options, pages int64, fault func() error) (Result, error) {
	return export(ctx, src, out, o, internals{bytes: checkpointBytes, pages: pages, fault: fault})
}

// PageName and Surt are for the tests of names.
var (
	PageName = pageName
	Surt     = surt
)

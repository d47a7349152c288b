package mcp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"recrawl/internal/mcp"
)

// keptOpen is written to until all is read.
type keptOpen struct{ *bytes.Buffer }

func (keptOpen) Close() error { return nil }

const (
	hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
	ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}
`
)

// A line that is no message is answered as such, and the others are answered too.
func TestBrokenLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		said   string
		faults []int // in their order
		fails  bool  // after the answers
	}{
		"none":              {hello + ping, nil, false},
		"not JSON":          {hello + "hello\n" + ping, []int{-32700}, false},
		"at the end":        {hello + ping + `{"jsonrpc":`, []int{-32700}, false},
		"broken off":        {hello + `{"jsonrpc":"2.0","id":7,"meth` + "\n" + ping, []int{-32700}, false},
		"two on a line":     {hello + strings.TrimSpace(ping) + ping + ping, []int{-32700}, false},
		"no request":        {hello + "{}\n5\n" + ping, []int{-32600, -32600}, false},
		"over two lines":    {hello + strings.Replace(ping, ",", ",\r\n", 1) + ping, []int{-32700, -32700}, false},
		"other ends":        {hello + strings.TrimSpace(ping) + " \r\n \n\n", nil, false},
		"a line too long":   {hello + ping + strings.Repeat("x", 2<<20) + "\n", nil, true},
		"an empty batch":    {hello + "[]\n" + ping, []int{-32600}, false},
		"a batch":           {hello + `[7,` + strings.TrimSpace(ping) + `,{"jsonrpc":"2.0","method":"notifications/initialized"},[]]` + "\n", []int{-32600, -32600}, false},
		"broken batch":      {hello + "[" + ping + ping, []int{-32700}, false},
		"without a newline": {hello + strings.TrimSpace(ping), nil, false},
	} {
		var out bytes.Buffer
		err := mcp.New(w.options).Serve(w.Context(), io.NopCloser(strings.NewReader(c.said)), keptOpen{&out})
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
		answered, faults := map[float64]bool{}, []int{}
		for line := range strings.Lines(out.String()) {
			var answer struct {
				ID    any
				Error struct{ Code int }
			}
			w.check(json.Unmarshal([]byte(line), &answer))
			if id, is := answer.ID.(float64); is {
				answered[id] = answer.Error.Code == 0
			} else {
				faults = append(faults, answer.Error.Code)
			}
		}
		if len(answered) != 2 || !answered[1] || !answered[2] {
			t.Errorf("%s: the questions are not answered:\n%s", name, out.String())
		}
		if len(faults) != len(c.faults) || len(faults) > 0 && faults[0] != c.faults[0] {
			t.Errorf("%s: faults %v, want %v", name, faults, c.faults)
		}
	}
}

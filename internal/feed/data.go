package feed

import (
	"encoding/json"
	"fmt"

	"recrawl/internal/crawl"
)

// usual are the states before and after that most changes of a kind have.
var usual = map[Kind][2]crawl.PageState{
	PageNew:       {crawl.Active, crawl.Active},
	PageChanged:   {crawl.Active, crawl.Active},
	PageGone:      {crawl.Active, crawl.Gone},
	PageBack:      {crawl.Gone, crawl.Active},
	PageMoved:     {crawl.Active, crawl.Redirect},
	PageFailing:   {crawl.Active, crawl.Failing},
	PageRecovered: {crawl.Failing, crawl.Active},
	PageExcluded:  {crawl.Active, crawl.Excluded},
	PageDuplicate: {crawl.Active, crawl.Duplicate},
	PageStopped:   {crawl.Active, crawl.Stopped},
	PageEvicted:   {crawl.Active, crawl.Evicted},
	PageResumed:   {crawl.Stopped, crawl.Active},
}

// Usual returns the data of most changes of a kind, which a row without data stands for:
// this keeps the rows of a large feed narrow. It must never change.
func Usual(kind Kind, seq int) Data {
	d := Data{Was: usual[kind][0], State: usual[kind][1]}
	switch {
	case kind == PageChanged:
		d.From = max(0, seq-1)
	case kind > PageNew && kind <= PageDuplicate:
		d.From = seq
	}
	return d
}

// Encode returns the text that a row stores; "" if the data is the usual.
func (d Data) Encode(kind Kind, seq int) string {
	if d == Usual(kind, seq) {
		return ""
	}
	text, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("feed: encode %+v: %v", d, err)) // plain data cannot fail
	}
	return string(text)
}

// DecodeData reads what Encode has written.
func DecodeData(text string, kind Kind, seq int) (Data, error) {
	if text == "" {
		return Usual(kind, seq), nil
	}
	var d Data
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return Data{}, fmt.Errorf("decode a %s: %w", kind, err)
	}
	return d, nil
}

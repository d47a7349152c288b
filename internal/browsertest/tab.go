package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Tab is a window of its own, which shares no cookie with others.
type Tab struct {
	t       testing.TB
	pipe    *pipe
	session string
	frame   string // the main frame's id

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced when anything below changes
	loaded   string        // the document that was loaded last
	shown    Shown
	asked    []string // the addresses that were asked for since Open, Follow or Forget
	troubles []string
}

// Shown is the answer to the tab's request.
type Shown struct {
	URL    string
	Status int
	Type   string // as the server says, such as text/html
}

// Tab opens one, for as long as the test runs.
func (b *Browser) Tab(t testing.TB) *Tab {
	t.Helper()
	var window struct {
		ID string `json:"browserContextId"`
	}
	browser := &Tab{t: t, pipe: b.pipe}
	browser.call("Target.createBrowserContext", map[string]any{"disposeOnDetach": true}, &window)
	var target struct {
		ID string `json:"targetId"`
	}
	browser.call("Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": window.ID, "newWindow": true}, &target)
	var attached struct {
		Session string `json:"sessionId"`
	}
	browser.call("Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &attached)
	// A page's main frame has the id of its target.
	tab := &Tab{t: t, pipe: b.pipe, session: attached.Session, frame: target.ID, changed: make(chan struct{})}
	b.pipe.listen(tab.session, tab.note)
	for _, domain := range []string{"Page", "Runtime", "Log", "Network", "DOM"} {
		tab.call(domain+".enable", nil, nil)
	}
	tab.call("Page.setLifecycleEventsEnabled", map[string]any{"enabled": true}, nil)
	tab.Look(Desktop)
	return tab
}

// call asks the browser about this tab, and ends the test if it cannot.
func (tab *Tab) call(method string, params, into any) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.t.Context(), patience)
	defer cancel()
	result, err := tab.pipe.call(ctx, tab.session, method, params)
	if err == nil && into != nil {
		err = json.Unmarshal(result, into)
	}
	if err != nil {
		tab.t.Fatalf("%s: Chromium: %v", tab.Shown().URL, err)
	}
}

// note records an event. It is called from the goroutine that reads the pipe.
func (tab *Tab) note(m message) {
	var e event
	if err := json.Unmarshal(m.Params, &e); err != nil {
		e = event{Text: fmt.Sprintf("%s: %v", m.Method, err)}
	}
	if m.Method == "Page.javascriptDialogOpening" {
		// A page waits for an answer. If the browser has ended, none is needed.
		_ = tab.pipe.send(tab.session, "Page.handleJavaScriptDialog", map[string]any{"accept": false}, make(chan message, 1))
	}
	tab.mu.Lock()
	defer tab.mu.Unlock()
	switch {
	case m.Method == "Page.lifecycleEvent" && e.Name == "load" && e.Frame == tab.frame:
		tab.loaded = e.Loader
	case m.Method == "Network.requestWillBeSent":
		tab.asked = append(tab.asked, e.Request.URL)
	case m.Method == "Network.responseReceived" && e.Type == "Document" && e.Frame == tab.frame:
		tab.shown = Shown{URL: e.Response.URL, Status: e.Response.Status, Type: e.Response.MimeType}
	default:
		if trouble := e.trouble(m.Method); trouble != "" {
			tab.troubles = append(tab.troubles, trouble)
		}
	}
	close(tab.changed)
	tab.changed = make(chan struct{})
}

// event has the fields of all events that are of interest.
type event struct {
	Name    string `json:"name"`
	Frame   string `json:"frameId"`
	Loader  string `json:"loaderId"`
	Type    string `json:"type"`
	Text    string `json:"message"`
	Request struct {
		URL string `json:"url"`
	} `json:"request"`
	Response struct {
		URL      string `json:"url"`
		Status   int    `json:"status"`
		MimeType string `json:"mimeType"`
	} `json:"response"`
	Args []struct {
		Value       any    `json:"value"`
		Description string `json:"description"`
	} `json:"args"`
	Exception struct {
		Text      string `json:"text"`
		Exception struct {
			Description string `json:"description"`
		} `json:"exception"`
	} `json:"exceptionDetails"`
	Entry struct {
		Level string `json:"level"`
		Text  string `json:"text"`
		URL   string `json:"url"`
	} `json:"entry"`
}

// trouble returns an event's complaint, "" if there is none.
func (e event) trouble(method string) string {
	switch {
	case method == "Runtime.consoleAPICalled" && slices.Contains([]string{"error", "warning", "assert"}, e.Type):
		var words []string
		for _, a := range e.Args {
			if a.Description != "" {
				words = append(words, a.Description)
			} else {
				words = append(words, fmt.Sprint(a.Value))
			}
		}
		return "console." + e.Type + ": " + strings.Join(words, " ")
	case method == "Runtime.exceptionThrown":
		return "exception: " + e.Exception.Text + " " + e.Exception.Exception.Description
	case method == "Log.entryAdded" && slices.Contains([]string{"error", "warning"}, e.Entry.Level):
		return e.Entry.Level + ": " + e.Entry.Text + " " + e.Entry.URL
	case method == "Page.javascriptDialogOpening":
		return "dialog: " + e.Text
	}
	return ""
}

// await waits until the condition holds, which is checked with tab.mu held.
func (tab *Tab) await(what string, holds func() bool) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.t.Context(), patience)
	defer cancel()
	for {
		tab.mu.Lock()
		held, changed := holds(), tab.changed
		tab.mu.Unlock()
		if held {
			return
		}
		select {
		case <-changed:
		case <-tab.pipe.done:
			tab.t.Fatalf("%s: %v", what, errGone)
		case <-ctx.Done():
			tab.t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// Open goes to an address and waits until all of it is loaded.
func (tab *Tab) Open(address string) Shown {
	tab.t.Helper()
	tab.forget()
	var navigated struct {
		Loader string `json:"loaderId"`
		Error  string `json:"errorText"`
	}
	tab.call("Page.navigate", map[string]any{"url": address}, &navigated)
	if navigated.Error != "" {
		tab.t.Fatalf("open %s: %s", address, navigated.Error)
	}
	if navigated.Loader != "" { // "" if only the fragment differs
		tab.await("load "+address, func() bool { return tab.loaded == navigated.Loader })
	}
	return tab.Shown()
}

// Leads does something that leads to another page, and waits until that is loaded.
func (tab *Tab) Leads(what func()) Shown {
	tab.t.Helper()
	tab.forget()
	tab.mu.Lock()
	before := tab.loaded
	tab.mu.Unlock()
	what()
	tab.await("load the next page", func() bool { return tab.loaded != before })
	return tab.Shown()
}

// Follow clicks an element that leads to another page, and waits until that is loaded.
func (tab *Tab) Follow(selector string) Shown {
	tab.t.Helper()
	return tab.Leads(func() { tab.Click(selector) })
}

func (tab *Tab) forget() {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	tab.asked = nil
}

// Shown returns what the tab shows.
func (tab *Tab) Shown() Shown {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return tab.shown
}

// Asked returns the addresses that the shown page requested: itself, its styles, scripts
// and pictures, and the requests of scripts.
func (tab *Tab) Asked() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return slices.Clone(tab.asked)
}

// Troubles returns the browser's complaints since the last call: errors and warnings of the
// console, violations of the Content-Security-Policy, failed loads, dialogs.
func (tab *Tab) Troubles() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	all := tab.troubles
	tab.troubles = nil
	return all
}

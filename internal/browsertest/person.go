package browsertest

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
)

// View is how a person looks at a page.
type View struct {
	Name          string
	Width, Height int
	Dark          bool
}

// The usual views.
var (
	Desktop = View{Name: "light", Width: 1280, Height: 800}
	Night   = View{Name: "dark", Width: 1280, Height: 800, Dark: true}
	Phone   = View{Name: "phone", Width: 390, Height: 844}
)

// Look changes the size of the window and its colours.
func (tab *Tab) Look(v View) {
	tab.t.Helper()
	tab.call("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": v.Width, "height": v.Height, "deviceScaleFactor": 1, "mobile": false,
	}, nil)
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	tab.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
		{"name": "prefers-color-scheme", "value": scheme},
		{"name": "prefers-reduced-motion", "value": "reduce"},
	}}, nil)
}

// Scripts turns JavaScript of the pages on or off.
func (tab *Tab) Scripts(on bool) {
	tab.t.Helper()
	tab.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": !on}, nil)
}

// Eval evaluates an expression of JavaScript beside the page, which it can see and whose own
// scripts it cannot disturb. A promise is waited for. The result goes into into, if that is
// not nil.
func (tab *Tab) Eval(expression string, into any) {
	tab.t.Helper()
	var world struct {
		ID int `json:"executionContextId"`
	}
	tab.call("Page.createIsolatedWorld", map[string]any{"frameId": tab.frame, "worldName": "test"}, &world)
	var evaluated struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	tab.call("Runtime.evaluate", map[string]any{
		"expression": expression, "contextId": world.ID, "awaitPromise": true, "returnByValue": true,
	}, &evaluated)
	if e := evaluated.Exception; e != nil {
		tab.t.Fatalf("%s: %.200s: %s %s", tab.Shown().URL, expression, e.Text, e.Exception.Description)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(evaluated.Result.Value, into); err != nil {
		tab.t.Fatalf("%s: %.200s is %s: %v", tab.Shown().URL, expression, evaluated.Result.Value, err)
	}
}

// Text returns the text of the page that a person can read.
func (tab *Tab) Text() string {
	tab.t.Helper()
	var text string
	tab.Eval("document.body.innerText", &text)
	return text
}

// AwaitText waits until a person can read a text on the page.
func (tab *Tab) AwaitText(text string) {
	tab.t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		tab.t.Fatal(err)
	}
	tab.Eval(`new Promise(shown => {
		const look = () => document.body.innerText.includes(`+string(quoted)+`) && shown(null);
		new MutationObserver(look).observe(document.documentElement, {subtree: true, childList: true, characterData: true});
		look();
	})`, nil)
}

// node finds an element.
func (tab *Tab) node(selector string) int {
	tab.t.Helper()
	var document struct {
		Root struct {
			ID int `json:"nodeId"`
		} `json:"root"`
	}
	tab.call("DOM.getDocument", map[string]any{"depth": 0}, &document)
	var found struct {
		ID int `json:"nodeId"`
	}
	tab.call("DOM.querySelector", map[string]any{"nodeId": document.Root.ID, "selector": selector}, &found)
	if found.ID == 0 {
		tab.t.Fatalf("%s has no %s", tab.Shown().URL, selector)
	}
	return found.ID
}

// Click clicks an element, as the mouse does: a hidden or covered one is not hit.
func (tab *Tab) Click(selector string) {
	tab.t.Helper()
	tab.Hold(selector)()
}

// Hold presses the mouse on an element, and returns what lets it go at the same place.
func (tab *Tab) Hold(selector string) (release func()) {
	tab.t.Helper()
	node := tab.node(selector)
	tab.call("DOM.scrollIntoViewIfNeeded", map[string]any{"nodeId": node}, nil)
	var area struct {
		Quads [][8]float64 `json:"quads"`
	}
	tab.call("DOM.getContentQuads", map[string]any{"nodeId": node}, &area)
	if len(area.Quads) == 0 {
		tab.t.Fatalf("%s: %s cannot be seen", tab.Shown().URL, selector)
	}
	q := area.Quads[0]
	mouse := func(kind string) {
		tab.t.Helper()
		tab.call("Input.dispatchMouseEvent", map[string]any{
			"type": kind, "x": (q[0] + q[4]) / 2, "y": (q[1] + q[5]) / 2, "button": "left", "clickCount": 1,
		}, nil)
	}
	mouse("mousePressed")
	return func() { tab.t.Helper(); mouse("mouseReleased") }
}

// Type writes into an element, replacing its contents.
func (tab *Tab) Type(selector, text string) {
	tab.t.Helper()
	tab.call("DOM.focus", map[string]any{"nodeId": tab.node(selector)}, nil)
	tab.call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "commands": []string{"selectAll"}}, nil)
	tab.call("Input.insertText", map[string]any{"text": text}, nil)
}

// Key is a key that Press knows.
type Key struct {
	name string
	code int
	text string
}

// The keys for using pages.
var (
	TabKey = Key{"Tab", 9, ""}
	Enter  = Key{"Enter", 13, "\r"}
)

// Press presses a key.
func (tab *Tab) Press(k Key) {
	tab.t.Helper()
	press := map[string]any{"key": k.name, "code": k.name, "windowsVirtualKeyCode": k.code}
	press["type"] = "keyUp"
	down := map[string]any{"type": "keyDown", "key": k.name, "code": k.name, "windowsVirtualKeyCode": k.code}
	if k.text != "" {
		down["text"] = k.text
	}
	tab.call("Input.dispatchKeyEvent", down, nil)
	tab.call("Input.dispatchKeyEvent", press, nil)
}

// Picture writes the shown page, at most tallest pixels from its top, to a file: .png, or
// .webp, which is smaller.
func (tab *Tab) Picture(path string, tallest int) {
	tab.t.Helper()
	var layout struct {
		Content struct {
			Width, Height float64
		} `json:"cssContentSize"`
		View struct {
			Width  float64 `json:"clientWidth"`
			Height float64 `json:"clientHeight"`
		} `json:"cssLayoutViewport"`
	}
	tab.call("Page.getLayoutMetrics", nil, &layout)
	height := min(max(layout.Content.Height, 1), float64(tallest))
	params := map[string]any{
		"format": "png", "captureBeyondViewport": true,
		"clip": map[string]any{"x": 0, "y": 0, "width": layout.View.Width, "height": height, "scale": 1},
	}
	if strings.HasSuffix(path, ".webp") {
		params["format"], params["quality"] = "webp", 60
	}
	var picture struct {
		Data string `json:"data"`
	}
	tab.call("Page.captureScreenshot", params, &picture)
	data, err := base64.StdEncoding.DecodeString(picture.Data)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		tab.t.Fatal(err)
	}
}

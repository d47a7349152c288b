package web

// button is a command that can be pressed: a form with one button.
type button struct {
	Action string // where it is posted
	Label  string
	// About names what the button acts on, for readers who cannot see where it stands; ""
	// if the label says it.
	About string
	// Fields are sent with it.
	Fields []field
	// Grave marks a button that takes something away, and looks like it.
	Grave bool
}

type field struct{ Name, Value string }

// pressed is a button as it stands on a page.
type pressed struct {
	button
	Back     string
	ReadOnly bool
}

// press puts a button on a page.
func press(b button, on shown) pressed { return pressed{b, on.Path, on.ReadOnly} }

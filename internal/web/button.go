package web

// button is a command that can be pressed: a form with one button.
type button struct {
	Action string // to which it is posted
	Label  string
	// About is what it acts on, for those who do not see where it stands; "" if the label
	// says it.
	About string
	// Fields are sent with it.
	Fields []field
	// Grave says that it takes something away, and looks so.
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

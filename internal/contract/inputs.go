package contract

import "encoding/json"

// Whatever people type as an update's input is read, and judged by the update's
// validator: the SDK refuses an input that cannot be decoded with three errors in one,
// none of which says what to type.

// DurationArg is a duration with units, as a person types it: "2h".
type DurationArg string

// UnmarshalJSON implements json.Unmarshaler. Anything but a text stays as it was typed.
func (a *DurationArg) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		text = string(data)
	}
	*a = DurationArg(text)
	return nil
}

// UnmarshalJSON implements json.Unmarshaler. Whatever a person gives the signal, the page
// stops.
func (a *StopArg) UnmarshalJSON(data []byte) error {
	type plain StopArg
	var object plain
	if json.Unmarshal(data, &object) == nil {
		*a = StopArg(object)
	}
	return nil
}

// AddSeedsArg is the input of add-seeds.
type AddSeedsArg struct {
	Seeds []string `json:"seeds"`
	// Malformed is an input of another form, as it was typed, or its beginning.
	Malformed string `json:"-"`
}

// UnmarshalJSON implements json.Unmarshaler. A list of URLs is taken for the seeds, and
// a URL for the only one.
func (a *AddSeedsArg) UnmarshalJSON(data []byte) error {
	type plain AddSeedsArg
	var object plain
	var list []string
	var one string
	switch {
	case json.Unmarshal(data, &object) == nil:
		*a = AddSeedsArg(object)
	case json.Unmarshal(data, &list) == nil:
		*a = AddSeedsArg{Seeds: list}
	case json.Unmarshal(data, &one) == nil:
		*a = AddSeedsArg{Seeds: []string{one}}
	default:
		const most = 100
		*a = AddSeedsArg{Malformed: string(data[:min(len(data), most)])}
	}
	return nil
}

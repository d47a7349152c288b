package crawl

import (
	"encoding/json"
	"strings"
	"time"
)

// AutoDelayWord stands for an automatic delay where a delay is asked for.
const AutoDelayWord = "auto"

// mostAutoDelay is the longest automatic delay if none is given.
const mostAutoDelay = Duration(10 * time.Second)

// SetDelay sets the delay to a person's input: a duration, or auto.
func (p *PolitenessSpec) SetDelay(text string) error {
	if text == AutoDelayWord {
		p.Delay, p.AutoDelay = mostAutoDelay, true
		return nil
	}
	d, err := ParseDuration(text)
	if err == nil {
		p.Delay, p.AutoDelay = Duration(d), false
	}
	return err
}

// DelayWords words the delay.
func (p PolitenessSpec) DelayWords() string {
	if p.AutoDelay {
		return "1s to " + p.Delay.String() + " (auto)"
	}
	return p.Delay.String()
}

// spellDelay writes out politeness.delay of a spec if it is auto. Stored specs, and those
// sent to workers, then have it in a form that releases without automatic delays read as
// the longest delay. It returns other input unchanged.
func spellDelay(data []byte) []byte {
	var spec, politeness map[string]json.RawMessage
	if json.Unmarshal(data, &spec) != nil {
		return data
	}
	at, has := member(spec, "politeness")
	if !has || json.Unmarshal(spec[at], &politeness) != nil {
		return data
	}
	delay, has := member(politeness, "delay")
	if !has || string(politeness[delay]) != `"`+AutoDelayWord+`"` {
		return data
	}
	politeness[delay] = json.RawMessage(`"` + mostAutoDelay.String() + `"`)
	politeness["auto_delay"] = json.RawMessage("true")
	var err error
	if spec[at], err = json.Marshal(politeness); err != nil {
		return data
	}
	spelled, err := json.Marshal(spec)
	if err != nil {
		return data
	}
	return spelled
}

// member is the name of an object's member, whatever the case of its letters.
func member(object map[string]json.RawMessage, name string) (string, bool) {
	if _, has := object[name]; has {
		return name, true
	}
	for is := range object {
		if strings.EqualFold(is, name) {
			return is, true
		}
	}
	return "", false
}

package schema

import (
	"encoding/json"
	"strings"
)

// A HostNote is what people noted of a host. It decides nothing about the map.
type HostNote struct {
	Tags  []string `json:"tags,omitempty"`
	Note  string   `json:"note,omitempty"`
	Later bool     `json:"later,omitempty"` // it is not suggested for now
}

// TagText returns the tags, separated by commas, which are in none of them.
func (n HostNote) TagText() string { return strings.Join(n.Tags, ",") }

// HostNotes are those of a state file, by host without port. They stand outside of the
// configuration's hash and of the digest.
type HostNotes map[string]HostNote

// MetaNotes is the name of the value that keeps them.
const MetaNotes = "host notes"

// Of returns the note of a host, which may carry a port.
func (n HostNotes) Of(host string) HostNote {
	if len(n) == 0 {
		return HostNote{}
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	return n[host]
}

// Encode returns the value that keeps them; nil: there is none.
func (n HostNotes) Encode() ([]byte, error) {
	if len(n) == 0 {
		return nil, nil
	}
	return json.Marshal(n)
}

// DecodeHostNotes reads what [HostNotes.Encode] wrote.
func DecodeHostNotes(text []byte) (n HostNotes, err error) {
	if len(text) > 0 {
		err = json.Unmarshal(text, &n)
	}
	return n, err
}

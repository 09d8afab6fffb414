package schema

import (
	"encoding/json"
	"strings"
)

// A HostNote holds the notes that people made about a host. It does not affect the map.
type HostNote struct {
	Tags  []string `json:"tags,omitempty"`
	Note  string   `json:"note,omitempty"`
	Later bool     `json:"later,omitempty"` // not suggested for now
}

// TagText returns the tags joined with commas, which no tag contains.
func (n HostNote) TagText() string { return strings.Join(n.Tags, ",") }

// HostNotes are the notes in a state file, by host without port. They are part of neither the
// configuration hash nor the digest.
type HostNotes map[string]HostNote

// MetaNotes is the name of the value that stores the notes.
const MetaNotes = "host notes"

// Of returns the note for a host. A port in host is ignored.
func (n HostNotes) Of(host string) HostNote {
	if len(n) == 0 {
		return HostNote{}
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	return n[host]
}

// Encode returns the stored value, or nil if there are no notes.
func (n HostNotes) Encode() ([]byte, error) {
	if len(n) == 0 {
		return nil, nil
	}
	return json.Marshal(n)
}

// DecodeHostNotes decodes a value of [HostNotes.Encode].
func DecodeHostNotes(text []byte) (n HostNotes, err error) {
	if len(text) > 0 {
		err = json.Unmarshal(text, &n)
	}
	return n, err
}

package answer

import (
	"encoding/hex"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/preference"
)

// A Visit is one visit to a page.
type Visit struct {
	Run         int       `json:"run_id"`
	At          time.Time `json:"visited_at"`
	State       string    `json:"state"`
	Status      int       `json:"status_code"`
	FetchURL    string    `json:"fetch_url"`
	RedirectTo  string    `json:"redirect_to"`
	ContentType string    `json:"content_type"`
	Charset     string    `json:"charset"`
	Length      int64     `json:"content_length"`
	BodySHA256  string    `json:"body_sha256"`
	ResponseMS  int64     `json:"response_ms"`
	Requests    int       `json:"requests"`
	Retries     int       `json:"retry_count"`
	Kept        bool      `json:"kept"`
	Unchanged   bool      `json:"unchanged"`
	NoIndex     bool      `json:"noindex"`
	NoFollow    bool      `json:"nofollow"`
	Shell       string    `json:"needs_scripts"` // the signs that it is empty without scripts; empty: none
	Rendered    string    `json:"rendered"`      // why a browser rendered it, and what was blocked; empty: not rendered
	RenderAsked int       `json:"render_requests"`
	WordCount   int       `json:"words,omitempty"`
	SimHash     string    `json:"simhash,omitempty"`
	ETag        string    `json:"etag"`
	Modified    string    `json:"last_modified"`
	Rule        string    `json:"rule"`
	Answer      string    `json:"answer,omitempty"` // what came instead of a page; the rest is what an earlier visit found
	AnswerRule  string    `json:"answer_rule,omitempty"`
	AnswerCode  int       `json:"answer_status_code,omitempty"`
	Error       string    `json:"error_message"`

	Preferences string   `json:"preferences,omitempty"`         // what the owner says about the page's use
	Written     []string `json:"preferences_written,omitempty"` // each statement as written, after its place
}

func newVisit(tx *kv.Tx, v *schema.Visit) (Visit, error) {
	one := Visit{
		Run: int(v.Run), At: v.At.UTC(), State: v.State.String(), Status: v.Status, FetchURL: v.Form,
		ContentType: v.ContentType, Charset: v.Charset, Length: v.Length, ResponseMS: v.ResponseTime.Milliseconds(),
		Requests: v.Requests, Retries: v.Retries, Kept: v.Kept, Unchanged: v.Unchanged, NoIndex: v.NoIndex,
		NoFollow: v.NoFollow, Shell: v.Shell.String(),
		Rendered: v.Rendering.Tell(v.Shell, v.Refusals), RenderAsked: v.RenderAsked,
		WordCount: v.WordCount, SimHash: v.SimHash.String(),
		ETag: v.ETag, Modified: v.LastModified, Rule: v.Rule, Error: v.Reason.String(),
		Answer: v.Answer.String(), AnswerRule: v.AnswerRule, AnswerCode: v.AnswerStatus,
		Preferences: preference.Applied(v.Preferences),
	}
	for _, s := range preference.Parse(v.Preferences) {
		one.Written = append(one.Written, s.String())
	}
	if v.SHA256 != [32]byte{} {
		one.BodySHA256 = hex.EncodeToString(v.SHA256[:])
	}
	if v.RedirectTo == 0 {
		return one, nil
	}
	var err error
	one.RedirectTo, err = tx.URLs.Norm(v.RedirectTo)
	return one, err
}

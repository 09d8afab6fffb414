package kv_test

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/export/sqlite"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// oldFields writes fields as releases did that recorded no causes: numbers below 128 are
// a byte, texts begin with their length.
func oldFields(fields ...any) []byte {
	var b bytes.Buffer
	for _, f := range fields {
		switch f := f.(type) {
		case int:
			b.WriteByte(byte(f))
		case string:
			b.Write(append(binary.AppendUvarint(nil, uint64(len(f))), f...))
		case []byte:
			b.Write(f)
		}
	}
	return b.Bytes()
}

// oldVisit is a visit of URL 1 in commit 2 that ended without an answer.
func oldVisit(state schema.State, why, rule string) []byte {
	return oldFields(1, 0 /* links */, 1 /* run */, 2, 2 /* at */, 0, 0, 0 /* flags */, int(state), 0 /* status */, 1,
		/* shape */
		1, 0, 0, 0, 0 /* requests */, "" /* title */, 0, "", 0, "", 0, "", "" /* ETag */, 0, "", 1 /* length: -1 */, 0, why,
		rule,
		0, "", 0, 0, 0)
}

func oldHost(givenUp schema.GiveUp, robots, why, retry string) []byte {
	return oldFields("a.test", "", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3 /* tries */, 0, robots, 0, 0, 0,
		1 /* run */, 0, 0, 0, 0, int(givenUp), 0, why, 0, 0, 1 /* known */, 0, 0, 0, 0 /* queues */, 1, 1, 1, 0, retry, 0)
}

func oldRun(config [32]byte, why string) []byte {
	return oldFields(2, 4, config[:], int(schema.RunInterrupted), why, 0, 1 /* first visit */, 1, 0, 0, 0, 1, "other", 1)
}

// oldFile is a file with one page whose visit, host and run are of an old release.
func oldFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	cfg, _, err := config.Parse([]byte("[user-agent]\ncrawler-name = \"T\"\n[[quality]]\ndomain = \"a.test\"\n"+
		"seeds = [\"https://a.test/\"]\n"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx *kv.Tx) error {
		if err := tx.Runs.PutConfig(cfg.Hash(), cfg.Effective()); err != nil {
			return err
		}
		return tx.Runs.Put(schema.Run{ID: 1, Config: cfg.Hash(), FirstVisit: 1})
	})
	update(t, s, func(tx *kv.Tx) error {
		id, err := addURL(s, tx, "a.test", "/")
		if err != nil {
			return err
		}
		tx.Depths.Lower(id, 0, 0)
		_, err = tx.Visits.Add(&schema.Visit{URL: id, Run: 1, At: time.Unix(1, 0), State: schema.Failed, Length: -1})
		return err
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct {
		bucket string
		key    string
		fields []byte
	}{
		{"visits", "\x00\x00\x00\x00\x00\x00\x00\x01", oldVisit(schema.Failed, "denied by robots.txt",
			"robots.txt line 2: /")},
		{"hosts", "\x00\x00\x00\x01", oldHost(schema.GaveUpRobots, "503 Service Unavailable",
			"robots.txt unavailable: 503 Service Unavailable", "timeout")},
		{"runs", "\x00\x00\x00\x01", oldRun(cfg.Hash(), "stopped by SIGINT")},
	} {
		if err := kv.WriteRaw(path, v.bucket, []byte(v.key), kv.Seal(v.bucket, []byte(v.key), v.fields)); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// A file without causes is whole, and says what it said.
func TestFileWithoutCauses(t *testing.T) {
	s := openStore(t, oldFile(t))
	words := func(sentence string) schema.Reason { return schema.Reason{Detail: sentence} }
	view(t, s, func(tx *kv.Tx) error {
		v, err := tx.Visits.At(1)
		if err != nil {
			return err
		}
		if want := (schema.Reason{Cause: schema.CauseDenied}); v.Reason != want || v.Rule != "robots.txt line 2: /" ||
			v.Length != -1 {
			t.Errorf("visit = %+v, want reason %+v", v, want)
		}
		h, err := tx.Hosts.At(1)
		if err != nil {
			return err
		}
		if h.RobotsReason != words("503 Service Unavailable") || len(h.Retries) != 1 ||
			h.Retries[0].Reason != words("timeout") ||
			h.RunGivenUpWhy != words("robots.txt unavailable: 503 Service Unavailable") {
			t.Errorf("host = %+v", h)
		}
		run, err := tx.Runs.At(1)
		if err != nil {
			return err
		}
		if run.End != (schema.End{Detail: "stopped by SIGINT"}) || run.Errors["other"] != 1 {
			t.Errorf("run = %+v", run)
		}
		return nil
	})
	update(t, s, func(tx *kv.Tx) error { // what was read is written again
		h, err := tx.Hosts.At(1)
		if err != nil {
			return err
		}
		h.Requests++
		tx.Hosts.Put(h)
		run, err := tx.Runs.At(1)
		if err != nil {
			return err
		}
		return tx.Runs.Put(run)
	})
	view(t, s, func(tx *kv.Tx) error {
		h, err := tx.Hosts.At(1)
		run, err2 := tx.Runs.At(1)
		if err != nil || h.RobotsReason != words("503 Service Unavailable") || h.Retries[0].Reason != words("timeout") {
			t.Errorf("written again: %+v, %v", h, err)
		}
		if err2 != nil || run.End.String() != "stopped by SIGINT" {
			t.Errorf("written again: %+v, %v", run, err2)
		}
		return nil
	})
}

// Surveys and exports tell of an old file what they always told.
func TestExportWithoutCauses(t *testing.T) {
	s := openStore(t, oldFile(t))
	sv, err := survey.New(s)
	if err != nil {
		t.Fatal(err)
	}
	report, err := sv.Hosts.Report(1)
	if err != nil || !strings.Contains(report.Coverage, "denied by robots.txt") ||
		!strings.Contains(report.Coverage, "given up: robots.txt unavailable: 503 Service Unavailable") {
		t.Errorf("coverage %q, %v", report.Coverage, err)
	}
	path := filepath.Join(t.TempDir(), "terrain.db")
	if err := sqlite.Write(t.Context(), path, sv, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var why, run string
	if err := db.QueryRow("SELECT p.error_message, r.reason FROM pages p, runs r").Scan(&why, &run); err != nil {
		t.Fatal(err)
	}
	if why != "denied by robots.txt" || run != "stopped by SIGINT" {
		t.Errorf("exported %q, %q", why, run)
	}
}

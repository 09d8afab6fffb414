package kv_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

func messagesOf(t testing.TB, s *kv.Store) (all []schema.Message) {
	t.Helper()
	view(t, s, func(tx *kv.Tx) error {
		return tx.Messages.Each(func(m *schema.Message) (bool, error) {
			all = append(all, *m)
			return true, nil
		})
	})
	return all
}

func someMessages() []schema.Message {
	at := time.UnixMilli(1_700_000_000_123).UTC()
	return []schema.Message{
		{Seq: 1, ID: "msg_a", Kind: "run.completed", Made: at, Next: at, Body: []byte(`{"type":"run.completed"}`)},
		{Seq: 2, ID: "msg_b", Kind: "host.given_up", Made: at, Tries: 3, Next: at.Add(time.Hour), Body: []byte("{}")},
	}
}

func messageStore(t testing.TB) (string, *kv.Store) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openStore(t, path)
	update(t, s, func(tx *kv.Tx) error {
		for _, m := range someMessages() {
			m.Seq = 0
			if err := tx.Messages.Put(&m); err != nil {
				return err
			}
		}
		return nil
	})
	return path, s
}

// Messages are stored unchanged and in order, next to the other values of their bucket.
func TestMessages(t *testing.T) {
	path, s := messageStore(t)
	update(t, s, func(tx *kv.Tx) error { return tx.Meta.Put("message", []byte("a value, and no message")) })
	s.Close()
	s = openStore(t, path)
	if diff := cmp.Diff(someMessages(), messagesOf(t, s)); diff != "" {
		t.Error(diff)
	}
	update(t, s, func(tx *kv.Tx) error {
		if err := tx.Messages.Delete(1); err != nil {
			return err
		}
		m := schema.Message{ID: "msg_c"}
		return tx.Messages.Put(&m)
	})
	view(t, s, func(tx *kv.Tx) error {
		var heads []schema.Message
		err := tx.Messages.Heads(func(m *schema.Message) bool { heads = append(heads, *m); return len(heads) < 2 })
		want := []schema.Message{someMessages()[1], {Seq: 3, ID: "msg_c", Made: heads[1].Made, Next: heads[1].Next}}
		if want[0].Body = nil; !cmp.Equal(want, heads) {
			t.Error(cmp.Diff(want, heads))
		}
		return err
	})
	got := messagesOf(t, s)
	if len(got) != 2 || got[0].Seq != 2 || got[1].Seq != 3 || got[1].ID != "msg_c" {
		t.Errorf("after a deletion: %+v", got)
	}
	view(t, s, func(tx *kv.Tx) error {
		if last, n, err := tx.Messages.Last(); err != nil || n != 2 || last.Seq != 3 {
			t.Errorf("Last = %+v, %d, %v", last, n, err)
		}
		if err := tx.Messages.Put(&schema.Message{}); err == nil {
			t.Error("a View has stored a message")
		}
		return nil
	})
}

// Waiting messages survive pruning and compacting, and are checked.
func TestMessagesAreKept(t *testing.T) {
	path, s := messageStore(t)
	update(t, s, func(tx *kv.Tx) error {
		if err := tx.Runs.PutConfig([32]byte{1}, []byte("c")); err != nil {
			return err
		}
		return tx.Runs.Put(schema.Run{ID: 1, Config: [32]byte{1}, FirstVisit: 1})
	})
	pruned, small := path+".pruned", path+".small"
	if _, err := s.Prune(t.Context(), pruned, 1); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := kv.Compact(path, small); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pruned, small} {
		if diff := cmp.Diff(someMessages(), messagesOf(t, openStore(t, path))); diff != "" {
			t.Errorf("%s: %s", filepath.Base(path), diff)
		}
	}
	bad, key := path+".bad", append([]byte("message/"), 0, 0, 0, 0, 0, 0, 0, 9)
	if err := kv.Compact(path, bad); err != nil {
		t.Fatal(err)
	}
	if err := kv.WriteRaw(bad, "meta", key, kv.Seal("meta", key, []byte{200})); err != nil {
		t.Fatal(err)
	}
	problems := 0
	if err := kv.Check(bad, func(string) { problems++ }); err != nil || problems == 0 {
		t.Errorf("a message that cannot be read: %d problems, %v", problems, err)
	}
}

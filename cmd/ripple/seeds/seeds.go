package seeds

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Options name the additional seeds of one run.
type Options struct {
	File      string
	asQuality bool
}

// AddFlags adds the flags of the seeds of one run.
func (o *Options) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&o.File, "seeds", "",
		"add the URLs in `FILE|-`, one per line, to the seeds of this run; a header\nline is skipped")
	f.BoolVar(&o.asQuality, "as-quality", false,
		"crawl hosts in --seeds that belong to no origin as origins of this run")
}

// maxSeedsFile is the size limit of a file of seeds, in bytes.
const maxSeedsFile = 4 << 20

// Extra holds the additional seeds of one run. They are kept in the state file, so that the run
// keeps them when it is resumed.
type Extra struct {
	Run       schema.RunID `json:"run"`
	AsQuality bool         `json:"as_quality"`
	URLs      []string     `json:"urls"`

	file  string // file that they were read from, in display form
	lines []int  // line of each of the first seeds
	Same  bool   `json:"-"` // apart from such seeds, the last run had the same configuration
}

// metaSeeds is the name under which they are stored.
const metaSeeds = "run seeds"

// Read reads the named seeds.
func (o *Options) Read() (Extra, error) {
	s := Extra{AsQuality: o.asQuality}
	switch o.File {
	case "":
		if o.asQuality {
			return s, term.Usage("--as-quality needs --seeds FILE, whose hosts it makes origins of this run")
		}
		return s, nil
	case "-":
		s.file = "standard input"
		err := s.readFrom(os.Stdin)
		return s, err
	}
	s.file = term.Shown(o.File)
	f, err := os.Open(o.File)
	if err != nil {
		return s, term.Usage("--seeds: %v", err)
	}
	defer f.Close()
	err = s.readFrom(f)
	return s, err
}

// readFrom reads seeds. It skips empty lines, lines that begin with #, and a header.
func (s *Extra) readFrom(in io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(in, maxSeedsFile+1))
	switch {
	case err != nil:
		return term.Usage("--seeds: %v", err)
	case len(text) > maxSeedsFile:
		return term.Usage("--seeds: %s is larger than %d MB", s.file, maxSeedsFile>>20)
	case isUTF16(text):
		return term.Usage("--seeds: %s is UTF-16; save it as UTF-8", s.file)
	}
	first := true
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(text), utf8Mark))
	for i, line := range strings.Split(lines, "\n") {
		line = strings.TrimFunc(line, func(c rune) bool { return unicode.IsSpace(c) || unicode.Is(unicode.Cf, c) })
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case !utf8.ValidString(line):
			return term.Usage("--seeds: %s, line %d: %s is not in UTF-8; save the file as UTF-8", s.file, i+1,
				term.Shown(term.Clean(line, 80)))
		}
		url, err := seedOf(line)
		if err != nil {
			return err
		}
		if url != "" && !(first && isHeader(url)) {
			s.URLs, s.lines = append(s.URLs, url), append(s.lines, i+1)
		}
		first = false
	}
	if len(s.URLs) == 0 {
		return term.Usage("--seeds: %s contains no URL", s.file)
	}
	return nil
}

// utf8Mark is the byte order mark with which some editors begin a text in UTF-8.
const utf8Mark = "\ufeff"

// isUTF16 reports whether a text is in UTF-16. The text begins with a URL, a comment or a byte
// order mark.
func isUTF16(head []byte) bool {
	return len(head) >= 2 && (string(head[:2]) == "\xff\xfe" || string(head[:2]) == "\xfe\xff" ||
		head[0] == 0 != (head[1] == 0))
}

// seedOf returns the URL in a line, which may be CSV with one column: any further columns are
// empty. A URL that ends with a comma or semicolon is in quotes.
func seedOf(line string) (string, error) {
	line = strings.TrimRight(line, ",; \t")
	if !strings.HasPrefix(line, `"`) {
		return line, nil
	}
	fields, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil || len(fields) != 1 {
		return "", term.Usage("--seeds: each line must hold one URL; %s does not", term.Shown(term.Clean(line, 80)))
	}
	return strings.TrimSpace(fields[0]), nil
}

// isHeader reports whether the first line is the header of a single column of URLs.
func isHeader(line string) bool { return !strings.ContainsAny(line, ".:/,;\t") }

// Join adds the seeds to a configuration. Errors name the file and its lines.
func (s Extra) Join(cfg *config.Config) (*config.Config, error) {
	if len(s.URLs) == 0 {
		return cfg, nil
	}
	more, err := cfg.WithSeeds(s.URLs, s.AsQuality)
	if err != nil {
		return nil, s.placed(term.WrongConfig(err))
	}
	return more, nil
}

// placed adds the file and its lines to an error of [config.Config.WithSeeds].
func (s Extra) placed(err error) error {
	var refused *config.Errors
	if !errors.As(err, &refused) || s.file == "" {
		return err
	}
	refused.Path = s.file
	for i, p := range refused.List {
		if p.Line > 0 && p.Line <= len(s.lines) {
			refused.List[i].Line = s.lines[p.Line-1]
		}
	}
	return err
}

// ForRun adds the seeds, and those that the resumed run already has, to its configuration, and
// keeps them for it.
func (s *Extra) ForRun(store *kv.Store, cfg *config.Config) (*config.Config, error) {
	cfg, stale, err := s.OfRun(store, cfg)
	if err != nil || !stale {
		return cfg, err
	}
	return cfg, store.Update(func(tx *kv.Tx) error {
		text, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if len(s.URLs) == 0 {
			text = nil
		}
		return tx.Meta.Put(metaSeeds, text)
	})
}

// OfRun adds the seeds, and those that the resumed run already has, to its configuration. stale
// reports whether the stored seeds must be changed.
func (s *Extra) OfRun(store *kv.Store, cfg *config.Config) (more *config.Config, stale bool, err error) {
	var kept Extra
	var last schema.Run
	var before *config.Config // of the last run
	err = store.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err != nil {
			return err
		}
		s.Run = 1
		if n := len(runs); n > 0 {
			last = runs[n-1]
			if s.Run = last.ID; last.Status == schema.RunCompleted {
				s.Run++
			}
			if before, err = statefile.ConfigOf(tx, last); err != nil {
				before = nil // one that cannot be read counts as different
			}
		}
		text, err := tx.Meta.Value(metaSeeds)
		if err != nil || text == nil {
			return err
		}
		return json.Unmarshal(text, &kept)
	})
	if err != nil {
		return nil, false, err
	}
	s.Same = before != nil && kept.hadBy(last.ID, before, cfg)
	own := len(s.URLs)
	if kept.Run == s.Run {
		s.addKept(&kept)
	}
	more, err = s.JoinKept(cfg, own)
	return more, len(s.URLs) > 0 || len(kept.URLs) > 0, err
}

// addKept adds the seeds that the resumed run already has.
func (s *Extra) addKept(kept *Extra) {
	given := make(map[string]bool, len(s.URLs))
	for _, url := range s.URLs {
		given[url] = true
	}
	for _, url := range kept.URLs {
		if !given[url] {
			s.URLs = append(s.URLs, url)
		}
	}
	s.AsQuality = s.AsQuality || kept.AsQuality
}

// hadBy reports whether a run with configuration before had cfg, including the seeds if they are
// its own.
func (s Extra) hadBy(run schema.RunID, before, cfg *config.Config) bool {
	if s.Run != run {
		return cfg.SameElsewhere(before)
	}
	with, err := s.Join(cfg)
	return err == nil && with.SameElsewhere(before)
}

// JoinKept adds the seeds to a configuration. After the first own seeds come those that the run had
// before; of these, it drops the ones that the configuration now refuses.
func (s *Extra) JoinKept(cfg *config.Config, own int) (*config.Config, error) {
	s.URLs = append(s.URLs[:own:own], cfg.AdmittedSeeds(s.URLs[own:], s.AsQuality)...)
	return s.Join(cfg)
}

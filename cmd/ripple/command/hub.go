package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nats-io/nkeys"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
)

// The defaults of the address and of the store of the hub.
const (
	defaultHub      = "127.0.0.1:4222"
	defaultHubStore = "./hub"
	hubToken        = "token" // file in the store, unless --token-file or --nkeys is given
)

type hubOptions struct {
	listen string
	store  string
	token  string // file
	nkeys  string // file
	cert   string
	key    string
}

func (o *hubOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.listen, "listen", defaultHub, "listen at `ADDR`")
	f.StringVar(&o.store, "store", defaultHubStore, "keep the hub's data in the folder `DIR`")
	f.StringVar(&o.token, "token-file", "",
		"accept clients that present the token in `FILE`, mode 0600, made if missing (default DIR/"+hubToken+")")
	f.StringVar(&o.nkeys, "nkeys", "", "accept clients whose public NKeys are in `FILE`, one per line")
	f.StringVar(&o.cert, "cert", "", "use TLS, with the certificates in `FILE`")
	f.StringVar(&o.key, "key", "", "the key of the certificate, in `FILE`")
}

func newHubCommand(a *app) *cobra.Command {
	var opts hubOptions
	cmd := &cobra.Command{
		Use:   "hub",
		Short: "Run the hub through which the nodes of a terrain talk",
		Long: `Run a NATS server until Ctrl-C. It carries messages between nodes, and records which
node has which shard. A terrain needs one; your own nats-server with JetStream will do.
The map is not here: it is in the nodes' state files.

The hub may be restarted at any time: nodes crawl on without it for the length of a
lease. Its store may be lost, or deleted while the hub is stopped. Never restore it
from a copy, because nodes would believe what it says. If it cannot be written because
the disk is full, the hub says so and is unavailable until it can, for at least half a
minute.

The hub prints its address and the path of its token file. [cluster] credentials of each
node names that file, or a copy of it. Everyone who knows the token has full access
to the hub. If the file is deleted together with the store, a new token is made, and
machines without shards take the hub for a new one.

To serve other machines the hub needs --cert and --key. Renewed certificates are loaded
automatically; --nkeys is read only at the start.`,
		Example: `  ripple hub
  ripple hub --listen 0.0.0.0:4222 --token-file hub-token --cert cert.pem --key key.pem`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runHub(cmd.Context(), a, opts) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runHub(ctx context.Context, a *app, opts hubOptions) error {
	if err := opts.check(); err != nil {
		return err
	}
	term.OutliveReaders()
	settings, err := opts.settings(a.Voice.Logger())
	if err != nil {
		return term.Usage("%v", err)
	}
	s, err := hub.Start(settings)
	if errors.Is(err, hub.ErrInUse) {
		return term.Usage("%v; name another one with --listen or --store", err)
	}
	if err != nil {
		return err
	}
	at, err := opts.reachable(s.URL())
	if err != nil {
		return errors.Join(err, s.Close())
	}
	fmt.Fprintln(a.stdout, at)
	if opts.token != "" {
		path, err := filepath.Abs(opts.token)
		if err != nil {
			return errors.Join(err, s.Close())
		}
		fmt.Fprintln(a.stdout, term.Shown(path))
		a.Voice.Say("[cluster] credentials of each node names this token file")
	}
	a.Voice.Say("Ctrl-C ends it")
	return errors.Join(s.Wait(ctx), s.Close())
}

// reachable returns the URL of the hub as nodes name it. If the hub listens at all addresses of the machine, that is
// the first name in its certificate, or that of the machine.
func (o *hubOptions) reachable(at string) (string, error) {
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err != nil || !ip.IsUnspecified() {
		return at, nil
	}
	name, err := os.Hostname()
	if o.cert != "" {
		c, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return "", err
		}
		if names := c.Leaf.DNSNames; len(names) > 0 && !strings.HasPrefix(names[0], "*") {
			name = names[0]
		}
	}
	u.Host = net.JoinHostPort(name, u.Port())
	return u.String(), err
}

// check checks the flags before a file is touched.
func (o *hubOptions) check() error {
	host, text, err := net.SplitHostPort(o.listen)
	_, noPort := strconv.ParseUint(text, 10, 16)
	ip, noIP := netip.ParseAddr(host)
	alone := host == "localhost" || noIP == nil && ip.IsLoopback()
	switch {
	case err != nil || noPort != nil:
		return term.Usage("--listen is %s; it must be an address like %q", term.Shown(o.listen), defaultHub)
	case (o.cert == "") != (o.key == ""):
		return term.Usage("--cert and --key belong together: name both or none")
	case o.token != "" && o.nkeys != "":
		return term.Usage("--token-file and --nkeys are both given; use one of them")
	case !alone && o.cert == "":
		return term.Usage("%s is reached from other machines, which takes --cert and --key", term.Shown(o.listen))
	}
	return nil
}

// settings reads the files. It creates a token if the hub is given neither a token nor public keys.
func (o *hubOptions) settings(log *slog.Logger) (s hub.Options, err error) {
	s = hub.Options{Listen: o.listen, Store: o.store, Log: log}
	if o.cert != "" {
		c, err := desk.NewCertificate(o.cert, o.key, "--cert and --key", log)
		if err != nil {
			return s, err
		}
		s.TLS = &tls.Config{GetCertificate: c.Now, MinVersion: tls.VersionTLS12}
	}
	if o.nkeys != "" {
		s.NKeys, err = readNKeys(o.nkeys)
		return s, err
	}
	if o.token == "" {
		if err := os.MkdirAll(o.store, 0o700); err != nil {
			return s, err
		}
		o.token = filepath.Join(o.store, hubToken)
	}
	_, missing := os.Stat(o.token)
	s.Fresh = errors.Is(missing, fs.ErrNotExist) // nobody knows the token that is about to be created
	s.Token, err = desk.Token(o.token)
	return s, err
}

// readNKeys reads the public keys of users, one per line. The text after "#" says whose key it is.
func readNKeys(path string) (keys []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--nkeys: %w", err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		key, _, _ := strings.Cut(line, "#")
		key = strings.TrimSpace(key)
		switch {
		case key == "":
			continue
		case strings.HasPrefix(key, "SU"):
			return nil, fmt.Errorf("--nkeys: line %d of %s is a seed, which only its node may have; "+
				"its public key begins with U", n, path)
		case !nkeys.IsValidPublicUserKey(key):
			return nil, fmt.Errorf("--nkeys: line %d of %s is not the public key of a user, which begins with U",
				n, path)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("--nkeys: there is no key in %s", path)
	}
	return keys, nil
}

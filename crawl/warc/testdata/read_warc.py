"""Reads a page store with nothing but the standard library, and checks it."""
import collections, glob, gzip, hashlib, io, json, os, sys, zlib


def members(data):
    """The gzip members of a file with their offsets and lengths."""
    at = 0
    while at < len(data):
        z = zlib.decompressobj(31)
        text = z.decompress(data[at:]) + z.flush()
        assert z.eof, "a member is cut"
        length = len(data) - at - len(z.unused_data)
        yield at, length, text
        at += length


def fields(block):
    head, _, rest = block.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    return lines[0], dict(l.split(": ", 1) for l in lines[1:]), rest


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


count = collections.Counter()
for name in sorted(glob.glob(os.path.join(sys.argv[1], "*.warc.gz"))):
    found, payloads = {}, {}
    for i, (offset, length, text) in enumerate(members(open(name, "rb").read())):
        version, f, rest = fields(text)
        assert version == "WARC/1.1", version
        size = int(f["Content-Length"])
        block = rest[:size]
        assert rest[size:] == b"\r\n\r\n", "the record does not end"
        assert (f["WARC-Type"] == "warcinfo") == (i == 0), f["WARC-Type"]
        assert f["WARC-Record-ID"].startswith("<urn:uuid:")
        count[f["WARC-Type"]] += 1
        if f["WARC-Type"] == "warcinfo":
            assert f["WARC-Filename"] == os.path.basename(name)
            continue
        assert digest(block) == f["WARC-Block-Digest"]
        if f["WARC-Type"] == "request":
            assert block.startswith(b"GET ") and block.endswith(b"\r\n\r\n")
            continue
        status, http, body = fields(block)
        assert status == "HTTP/1.1 200 OK", status
        found[offset] = (length, f)
        if f["WARC-Type"] == "response":
            assert len(body) == int(http["Content-Length"])
            assert digest(body) == f["WARC-Payload-Digest"]
        else:
            assert body == b"" and f["WARC-Refers-To-Target-URI"] and f["WARC-Refers-To-Date"].endswith("Z")
            there = os.path.join(sys.argv[1], f["WARC-Refers-To-Filename"])
            at = int(f["WARC-Refers-To-File-Offset"])
            first = next(t for o, _, t in members(open(there, "rb").read()) if o == at)
            assert fields(first)[1]["WARC-Payload-Digest"] == f["WARC-Payload-Digest"]
    lines = open(name.replace(".warc.gz", ".cdxj")).read().splitlines()
    assert lines == sorted(lines)
    for line in lines:
        key, stamp, rest = line.split(" ", 2)
        e = json.loads(rest)
        length, f = found.pop(int(e["offset"]))
        assert int(e["length"]) == length and e["url"] == f["WARC-Target-URI"] and e["digest"] == f["WARC-Payload-Digest"]
        assert (e["mime"] == "warc/revisit") == (f["WARC-Type"] == "revisit")
        assert stamp == "".join(c for c in f["WARC-Date"] if c.isdigit())
        count["lines"] += 1
    assert not found, "records without a line"

try:  # the common tool, where it is installed
    from warcio.archiveiterator import ArchiveIterator
    for name in glob.glob(os.path.join(sys.argv[1], "*.warc.gz")):
        for record in ArchiveIterator(open(name, "rb"), check_digests="raise"):
            record.content_stream().read()
except ImportError:
    pass

print("%d requests, %d responses, %d revisits, %d index lines"
      % (count["request"], count["response"], count["revisit"], count["lines"]))

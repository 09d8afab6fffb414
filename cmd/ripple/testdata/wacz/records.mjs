// Reads a WARC file, and prints a line of JSON for each record: type, url, status and SHA-256 of the payload.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { WARCParser } from "warcio";

for await (const record of new WARCParser(createReadStream(process.argv[2]))) {
  const payload = await record.readFully(false);
  console.log(JSON.stringify({
    type: record.warcType,
    url: record.warcTargetURI ?? "",
    status: record.httpHeaders && record.warcType === "response" ? record.httpHeaders.statusCode : 0,
    body: createHash("sha256").update(payload).digest("hex"),
  }));
}

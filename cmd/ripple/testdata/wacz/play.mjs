// Loads a WACZ file over HTTP as ReplayWeb.page does, and prints a line of JSON for each of its pages as it is shown:
// url, title, status, type and SHA-256 of the body; then what the player has verified by its digest.
import "fake-indexeddb/auto";
import { createHash, webcrypto } from "node:crypto";

globalThis.self = globalThis;
globalThis.crypto ??= webcrypto; // Node.js 18
self.location = new URL("http://replay.test/");
const { ArchiveRequest, WorkerLoader } = await import("@webrecorder/wabac/swlib");

const complain = (_, error) => {
  if (error) throw new Error(error);
};
const loader = new WorkerLoader({ addEventListener() {} });
await loader.loadAll("");
const added = await loader.addCollection({ name: "test", file: { sourceUrl: process.argv[2] } }, complain);
if (!added) throw new Error("the collection was not added");
const { store } = await loader.loadColl("test");

for (const page of await store.getAllPages()) {
  const time = new Date(page.ts).toISOString().replace(/\D/g, "").slice(0, 14);
  const request = new ArchiveRequest(`${time}mp_/${page.url}`, new Request("http://replay.test/"));
  const answer = await store.getResource(request, "", {}, { noRedirect: true });
  const line = { url: page.url, title: page.title ?? "", status: 0 };
  if (answer) {
    line.status = answer.status;
    line.type = answer.headers.get("content-type");
    const body = (await answer.getBuffer()) ?? new Uint8Array();
    line.body = createHash("sha256").update(body).digest("hex");
  }
  console.log(JSON.stringify(line));
}
const verified = await store.db.getAll("verification");
console.log(JSON.stringify({ verified: verified.filter((v) => v.matched).map((v) => v.id) }));
process.exit(0);

// Prints the arguments of each container in a manifest, and fails if an object does not follow its schema.
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import * as apps from "kubernetes-models/apps/v1";
import * as core from "kubernetes-models/v1";

for (const document of parseAllDocuments(readFileSync(process.argv[2], "utf8"), { strict: true })) {
  if (document.errors.length > 0) throw document.errors[0];
  const object = document.toJS();
  const Kind = { "apps/v1": apps, v1: core }[object.apiVersion]?.[object.kind];
  if (!Kind) throw new Error(`no schema for ${object.apiVersion} ${object.kind}`);
  new Kind(object).validate();
  for (const container of object.spec.template?.spec.containers ?? []) console.log(JSON.stringify(container.args));
}

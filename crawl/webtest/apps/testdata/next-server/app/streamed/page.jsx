import { Suspense } from "react";
import Link from "next/link";
import notes from "../../notes.json";

export const dynamic = "force-dynamic";

async function Notes() {
  await new Promise((over) => setTimeout(over, 300));
  return <ul>{Object.keys(notes).map((id) => <li key={id}><Link href={`/notes/${id}`}>Note {id}</Link></li>)}</ul>;
}

export default function Streamed() {
  return <><h1>Notes</h1><Suspense fallback={<p>Loading…</p>}><Notes /></Suspense></>;
}

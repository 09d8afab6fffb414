"use client";
import Link from "next/link";
import { useData } from "../../data";

export default function Station({ id }) {
  const station = useData(`/data/stations/${id}.json`);
  if (!station) return <p>Loading…</p>;
  return (
    <article>
      <h1>{station.name}</h1>
      <p>{station.text}</p>
      <a href={station.report}>Report</a> <Link href={`/stations/${station.next}`}>Next station</Link>
    </article>
  );
}

"use client";
import Link from "next/link";
import { useData } from "../data";

export default function Keepers() {
  const stations = useData("/data/stations.json");
  return (
    <>
      <p><Link href="/">Back</Link></p>
      {stations ? stations.map((s) => <p key={s.id}><Link href={`/stations/${s.id}`}>{s.keeper}</Link></p>) : <p>Loading…</p>}
    </>
  );
}

"use client";
import Link from "next/link";
import { useData } from "../data";

export default function Stations() {
  const stations = useData("/data/stations.json") ?? [];
  return (
    <>
      <h1>Stations</h1>
      <ul>
        {stations.map((s) => (
          <li key={s.id}><Link href={`/stations/${s.id}`}>{s.name}</Link>, {s.river}</li>
        ))}
      </ul>
    </>
  );
}

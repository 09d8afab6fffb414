"use client";
import dynamic from "next/dynamic";

const Places = dynamic(() => import("./places"), { ssr: false, loading: () => <p>Loading…</p> });

export default function Map() {
  return <><h1>Map</h1><Places /></>;
}

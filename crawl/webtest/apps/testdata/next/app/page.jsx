import Link from "next/link";
import notes from "../notes.json";

export default function Home() {
  return (
    <>
      <p>Levels of rivers. Begin with <Link href="/stations/1">Ash Weir</Link>.</p>
      <ul>
        {Object.keys(notes).map((id) => <li key={id}><Link href={`/notes/${id}`}>Note {id}</Link></li>)}
      </ul>
    </>
  );
}

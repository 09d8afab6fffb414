import Link from "next/link";

export default function About() {
  return (
    <>
      <h1>About</h1>
      <p>
        River watch is run by volunteers, who have read the gauges of six small rivers since the floods of
        the last century. It has no office and no owner. Every station has a keeper and a deputy, so that
        the books have no gaps. Anybody may use the readings for anything. They are sent to the water board
        every Monday, on paper as well as by mail, because paper has survived each of the floods so far.
      </p>
      <p>
        See <Link href="/guide">the guide</Link>, <Link href="/streamed">the notes</Link> and{" "}
        <a href="/reports/1.txt">a report</a>.
      </p>
    </>
  );
}

import Link from "next/link";

export const metadata = { title: "River watch" };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        <header>
          <nav>
            <Link href="/">Home</Link> <Link href="/stations">Stations</Link> <Link href="/archive">Archive</Link>{" "}
            <Link href="/map">Map</Link> <Link href="/keepers">Keepers</Link> <Link href="/alerts">Alerts</Link>{" "}
            <Link href="/guide">Guide</Link> <Link href="/about">About</Link>
          </nav>
        </header>
        <main>{children}</main>
        <footer>Kept by volunteers</footer>
      </body>
    </html>
  );
}

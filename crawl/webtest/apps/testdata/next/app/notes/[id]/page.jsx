import notes from "../../../notes.json";

export const dynamicParams = false;
export const generateStaticParams = () => Object.keys(notes).map((id) => ({ id }));

export default async function Note({ params }) {
  return <article dangerouslySetInnerHTML={{ __html: notes[(await params).id] }} />;
}

import Station from "./station";

export const dynamicParams = false;
export const generateStaticParams = () => ["1", "2", "3", "4", "5", "6"].map((id) => ({ id }));

export default async function Page({ params }) {
  return <Station id={(await params).id} />;
}

import lanterns from "../../../public/lanterns.json";

export const dynamicParams = false;
export const generateStaticParams = () => lanterns.map(({ slug }) => ({ slug }));

const found = async (params) => {
  const { slug } = await params;
  return lanterns.find((lantern) => lantern.slug === slug);
};

export const generateMetadata = async ({ params }) => ({ title: (await found(params)).name });

export default async function Page({ params }) {
  const { name, text } = await found(params);
  return (
    <article>
      <h1>{name}</h1>
      <p>{text}</p>
      <a href="/">All lanterns</a>
    </article>
  );
}

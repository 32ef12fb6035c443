import lanterns from "../public/lanterns.json";

export default function Page() {
  return (
    <main>
      <h1>Lanterns for every night</h1>
      <ul>
        {lanterns.map(({ slug, name, text }) => (
          <li key={slug}>
            <a href={`/lanterns/${slug}/`}>{name}</a> {text}
          </li>
        ))}
      </ul>
      <a href="/stock/">What is in stock</a>
    </main>
  );
}

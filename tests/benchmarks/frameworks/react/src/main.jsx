import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

function Shop() {
  const [lanterns, setLanterns] = useState([]);
  useEffect(() => {
    fetch("/lanterns.json").then((answer) => answer.json()).then(setLanterns);
  }, []);
  const one = lanterns.find(({ slug }) => location.pathname === `/lanterns/${slug}`);
  useEffect(() => {
    if (one) document.title = one.name;
  }, [one]);
  if (one)
    return (
      <article>
        <h1>{one.name}</h1>
        <p>{one.text}</p>
        <a href="/">All lanterns</a>
      </article>
    );
  return (
    <main>
      <h1>Lanterns for every night</h1>
      <ul>
        {lanterns.map(({ slug, name, text }) => (
          <li key={slug}>
            <a href={`/lanterns/${slug}`}>{name}</a> {text}
          </li>
        ))}
      </ul>
    </main>
  );
}

createRoot(document.getElementById("app")).render(<Shop />);

"use client";
import { useEffect, useState } from "react";

export default function Page() {
  const [lanterns, setLanterns] = useState();
  useEffect(() => {
    fetch("/lanterns.json").then((answer) => answer.json()).then(setLanterns);
  }, []);
  if (!lanterns) return null;
  return (
    <ul>
      {lanterns.map(({ slug, name, text }) => (
        <li key={slug}>
          <a href={`/lanterns/${slug}/`}>{name}</a> {text}
        </li>
      ))}
    </ul>
  );
}

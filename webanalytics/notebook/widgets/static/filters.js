// What one types into a column's filter, as a test of a cell.

const NUMBER = "(-?\\d+(?:\\.\\d+)?)";
const COMPARISON = new RegExp(`^(<=|>=|<|>|=|!)?\\s*${NUMBER}$`);
const RANGE = new RegExp(`^${NUMBER}\\s*(?:-|–|\\.\\.)\\s*${NUMBER}$`);

const COMPARE = {
  "<": (value, limit) => value < limit,
  "<=": (value, limit) => value <= limit,
  ">": (value, limit) => value > limit,
  ">=": (value, limit) => value >= limit,
  "=": (value, limit) => value === limit,
  "!": (value, limit) => value !== limit,
};

// Returns null where nothing is asked for, and undefined where it cannot be understood.
function cellTest(text, column) {
  const wanted = text.trim();
  if (wanted === "") return null;
  if (wanted === "=") return (value) => value === null || value === "";
  if (wanted === "!") return (value) => value !== null && value !== "";
  if (column.kind === "boolean") return (value) => value === (wanted === "yes");
  if (column.choices) return (value) => value === wanted || (!column.choices.includes(wanted) && contains(value, wanted));
  if (column.kind !== "number") return (value) => contains(value, wanted);
  const range = RANGE.exec(wanted);
  if (range) return (value) => value !== null && value >= Number(range[1]) && value <= Number(range[2]);
  const comparison = COMPARISON.exec(wanted);
  if (!comparison) return undefined;
  const compare = COMPARE[comparison[1] ?? "="];
  return (value) => value !== null && compare(value, Number(comparison[2]));
}

function contains(value, wanted) {
  return value !== null && String(value).toLowerCase().includes(wanted.toLowerCase());
}

// What the search looks through: a cell as it is shown, a whole number without commas.
function searched(cell, column) {
  if (typeof cell === "boolean") return showValue(cell);
  return typeof cell === "number" && !Number.isInteger(cell) ? cell.toFixed(column.decimals) : cell ?? "";
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

// Sorts row numbers by a column; rows without a value stay at the end either way.
function sortRows(rows, column, direction) {
  const cells = column.cells;
  const ranked = column.ranks && ((a, b) => column.ranks.indexOf(a) - column.ranks.indexOf(b));
  const compare = ranked ?? (column.kind === "text" ? collator.compare : (a, b) => a - b);
  const there = rows.filter((row) => cells[row] !== null && cells[row] !== "");
  const missing = rows.filter((row) => cells[row] === null || cells[row] === "");
  there.sort((a, b) => direction * compare(cells[a], cells[b]) || a - b);
  return there.concat(missing);
}

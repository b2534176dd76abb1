/**
 * Texts are searched in a folded form: lower case, and every ASCII character that is neither letter nor digit replaced by a letter
 * of its own from a script that code does not use. So `foo.bar(` and `=>` are found as written by a trigram index that knows
 * letters only (pg_trgm), and nothing in a query has a meaning to LIKE.
 */
export function foldText(text: string): string {
  // A sigma has two lower cases, and which one depends on what comes after it: a part of a word must not find another than the whole.
  const lower = text.toLowerCase().replaceAll("ς", "σ")
  return lower.replace(/[\0-/:-@[-`{-\x7f]/g, (character) => String.fromCharCode(0x1401 + character.charCodeAt(0)))
}

/** What search looks through of a val beside its name. No folded text contains the newline between the two, so no query can span them. */
export function foldBody(code: string, readme: string | null): string {
  return `${foldText(code)}\n${foldText(readme ?? "")}`
}

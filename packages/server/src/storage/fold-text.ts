/**
 * Texts are searched in a folded form: lower case, and every ASCII character that is neither letter nor digit replaced by a letter
 * of its own from a script that code does not use. So `foo.bar(` and `=>` are found as written by a trigram index that knows
 * letters only (pg_trgm), and nothing in a query has a meaning to LIKE.
 */
export function foldText(text: string): string {
  return text.toLowerCase().replace(/[\0-/:-@[-`{-\x7f]/g, (character) => String.fromCharCode(0x1401 + character.charCodeAt(0)))
}

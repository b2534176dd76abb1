/**
 * Texts are searched in a folded form: lower case, and every ASCII character that is neither letter
 * nor digit replaced by a letter of its own from a script that code does not use. So `foo.bar(` and
 * `=>` are found as written by a trigram index that knows letters only (pg_trgm), and nothing in a
 * query has a meaning to LIKE.
 */
export function foldText(text: string): string {
  // A sigma has two lower cases, and which one depends on what comes after it: a part of a word
  // must not find another than the whole.
  const lower = text.toLowerCase().replaceAll("ς", "σ")
  // Unit by unit, since every save folds the whole code: a regular expression with a function takes
  // eight times as long.
  const units = lower.length <= sharedUnits.length ? sharedUnits : new Uint16Array(lower.length)
  for (let index = 0; index < lower.length; index++) {
    const unit = lower.charCodeAt(index)
    units[index] = foldedAscii[unit] ?? unit
  }
  return Buffer.from(units.buffer, 0, lower.length * 2).toString("utf16le")
}

const foldedAscii = Array.from({ length: 128 }, (_, unit) =>
  /[a-z0-9]/i.test(String.fromCharCode(unit)) ? unit : 0x1401 + unit,
)
const sharedUnits = new Uint16Array(16_384)

/**
 * What search looks through of a val beside its name. No folded text contains the newline between
 * the two, so no query can span them.
 */
export function foldBody(code: string, readme: string | null): string {
  return `${foldText(code)}\n${foldText(readme ?? "")}`
}

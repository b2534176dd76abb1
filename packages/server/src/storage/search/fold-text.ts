/**
 * Texts are searched in a folded form: lower case, and each ASCII character that is neither a letter
 * nor a digit replaced by a distinct letter of a script that code does not use. A trigram index that
 * only knows letters (pg_trgm) thus finds `foo.bar(` and `=>` as written, and a query contains no
 * wildcard of LIKE.
 */
export function foldText(text: string): string {
  // Sigma has two lower-case forms, chosen by the next character: the same letter must fold the same
  // way in a part of a word.
  const lower = text.toLowerCase().replaceAll("ς", "σ")
  // A loop over UTF-16 units, because every save folds the whole code: a regular expression with a
  // function takes eight times as long.
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

/** The texts of a val that search compares besides its name. */
export interface ValTexts {
  readonly code: string
  readonly readme: string | null
  readonly description?: string | null | undefined
  /** Where its code is; left out for the path that nearly all vals have. */
  readonly codePath?: string | undefined
}

/**
 * The texts of a val as one. No folded text contains the newline between two of them, so no query
 * can span them. The code is the first.
 */
export function foldBody({ code, readme, description, codePath }: ValTexts): string {
  const rest = [description, codePath].filter((text) => text != null)
  return [code, readme ?? "", ...rest].map(foldText).join("\n")
}

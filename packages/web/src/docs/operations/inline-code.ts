/** A piece of a sentence: plain, or between backticks. */
export interface TextPart {
  readonly text: string
  readonly isCode: boolean
}

/**
 * Splits a sentence at its backticks: all the Markdown that the description uses, and no HTML can
 * come of it.
 */
export function toTextParts(sentence: string): readonly TextPart[] {
  return sentence
    .split(/`([^`]*)`/)
    .map((text, index) => ({ text, isCode: index % 2 === 1 }))
    .filter((part) => part.text !== "")
}

/** The names between backticks. */
export function quotedNames(sentence: string): readonly string[] {
  return toTextParts(sentence).flatMap((part) => (part.isCode ? [part.text] : []))
}

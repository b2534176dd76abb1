interface TextPart {
  readonly text: string
  readonly isCode: boolean
}

/** A sentence of the API description, with the parts between backticks shown as code. */
export function InlineText({ children }: { children: string }) {
  return toTextParts(children).map(({ text, isCode }) => (isCode ? <code>{text}</code> : text))
}

/** The names between backticks. */
export function quotedNames(sentence: string): readonly string[] {
  return toTextParts(sentence).flatMap((part) => (part.isCode ? [part.text] : []))
}

/** Splits a sentence at its backticks, the only Markdown that the description uses. */
export function toTextParts(sentence: string): readonly TextPart[] {
  return sentence
    .split(/`([^`]*)`/)
    .map((text, index) => ({ text, isCode: index % 2 === 1 }))
    .filter((part) => part.text !== "")
}

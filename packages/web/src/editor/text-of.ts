const texts = new WeakMap<object, string>()

/**
 * The text of a document of the editor, which is never changed. It is joined from its lines once:
 * the page, the draft and the type service ask for it after each key.
 */
export function textOf(document: { toString(): string }): string {
  const known = texts.get(document)
  if (known !== undefined) return known
  const text = document.toString()
  texts.set(document, text)
  return text
}

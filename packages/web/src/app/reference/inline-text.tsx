/** A sentence of the API description, with the parts between backticks shown as code. */
export function InlineText({ children }: { children: string }) {
  return children
    .split("`")
    .map((text, index) => (index % 2 === 1 ? <code key={index}>{text}</code> : text))
}

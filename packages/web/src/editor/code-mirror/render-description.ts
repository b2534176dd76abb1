import type { Description } from "../type-service/protocol.ts"

/** A type and its documentation in a tooltip, as text nodes only. */
export function renderDescription({ signature, documentation }: Description): HTMLElement {
  const element = document.createElement("div")
  element.className = "cm-types"
  const code = element.appendChild(document.createElement("pre"))
  for (const { text, kind } of signature) {
    const part = code.appendChild(document.createElement("span"))
    part.textContent = text
    if (kind !== "plain") part.className = `cm-types-${kind}`
  }
  if (documentation !== "")
    element.appendChild(document.createElement("p")).textContent = documentation
  return element
}

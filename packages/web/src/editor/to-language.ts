import type { EditorLanguage } from "./code-editor-props.ts"

/** The language of a file by its extension. */
export function toLanguage(path: string): EditorLanguage {
  if (/\.[cm]?[jt]sx?$|\/[^./]+$/.test(path)) return "typescript"
  if (/\.jsonc?$/.test(path)) return "json"
  return path.endsWith(".md") ? "markdown" : "text"
}

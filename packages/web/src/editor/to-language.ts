import type { EditorLanguage } from "./code-editor-props.ts"

/** The language of a file by its extension. */
export function toLanguage(path: string): EditorLanguage {
  if (/\.[cm]?[jt]sx?$|\/[^./]+$/.test(path)) return "typescript"
  if (/\.jsonc?$/.test(path)) return "json"
  if (/\.(html?|svg|xml)$/.test(path)) return "html"
  if (path.endsWith(".css")) return "css"
  return path.endsWith(".md") ? "markdown" : "text"
}

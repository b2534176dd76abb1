import type { TemplateSource } from "./template.ts"

/** The code of a template. All of it is one bundle, which only pages with templates load. */
export async function loadSource(key: string): Promise<TemplateSource> {
  const { sources } = await import("./sources.ts")
  const source = sources[key]
  if (!source) throw new Error(`Cannot find the template "${key}"`)
  return source
}

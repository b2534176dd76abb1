import type { DenoGraph } from "./deno-graph.ts"

/**
 * What an import has become: `npm:` and `jsr:` with the exact version, otherwise the address that
 * it was redirected to.
 */
export function toResolved(graph: DenoGraph, specifier: string, jsrUrl: string): string {
  const target = graph.follow(specifier)
  if (target.startsWith("npm:")) return target.replace(/^npm:\/?/, "npm:")
  const jsr = /^\s*jsr:\/?(@[^/@]+\/[^/@]+)(?:@[^/]*)?(\/.*)?$/i.exec(specifier)
  const version =
    jsr && target.startsWith(`${jsrUrl}${jsr[1]}/`)
      ? target.slice(jsrUrl.length + (jsr[1]?.length ?? 0) + 1).split("/")[0]
      : undefined
  return jsr && version ? `jsr:${jsr[1]}@${version}${jsr[2] ?? ""}` : target
}

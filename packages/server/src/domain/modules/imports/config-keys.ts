import type { ValConfig } from "@hamlet/contract/deno-json"
import { dependsOnPath } from "@hamlet/contract/import-map"
import { sha256, toOwnJson } from "@hamlet/kit"
import { toTextHash } from "../text-hash.ts"

/** Identifies what counts of a configuration: a comment in it does not. */
export function toConfigKey(config: ValConfig): string {
  return sha256(toOwnJson(config)).toString("base64url")
}

/** Identifies a text in the lockfile of a version. The same one may mean another package elsewhere. */
export function toTextKey(code: string, path: string, config: ValConfig | undefined): string {
  return toTextHash(config && dependsOnPath(config.map) ? `${path}\n${code}` : code)
}

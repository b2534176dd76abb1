// Without the schemas: clients show the type of a file before they send it.

import type { fileTypes } from "../lists.ts"
import { toFileName } from "./file-paths.ts"

/** The type of a file that is no directory. */
type ContentType = Exclude<(typeof fileTypes)[number], "directory">

/** The type of a new file by its name: code is a script until it is told what starts it. */
export function guessFileType(path: string): "script" | "file" {
  return /\.[tj]sx?$/.test(toFileName(path)) ? "script" : "file"
}

/**
 * The trigger that the name of a new file says: `inbox.email.ts`, `http.tsx`. Clients send it; the
 * server itself starts nothing because of a name.
 */
export function findNamedType(path: string): ContentType | undefined {
  const [, word = ""] = /(?:^|\.)(http|cron|interval|email)\.[jt]sx?$/.exec(toFileName(path)) ?? []
  return namedTypes[word]
}

const namedTypes: Readonly<Record<string, ContentType>> = {
  http: "http",
  cron: "interval",
  interval: "interval",
  email: "email",
}

/**
 * Formats code with `deno fmt`. The server starts it in a sandbox, with a ToolPaths as its argument.
 * Deno reads the code from its standard input, so that no file of the code exists.
 */
import { spawnSync } from "node:child_process"
import { readFileSync, writeSync } from "node:fs"
import type { CodeStyle } from "../../domain/modules/format-code.ts"
import type { ToolPaths } from "../sandbox/profiles/tool-profile.ts"

const { deno, scratch } = JSON.parse(process.argv[2] ?? "{}") as ToolPaths
const bytes = Buffer.from(
  JSON.stringify(format(JSON.parse(readFileSync(0, "utf8")) as FormatRequest)),
)
for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at)

function format({ code, style, codeCharsMax }: FormatRequest): FormatResponse {
  const switches = [
    ...["fmt", "--quiet", "--no-config", "--ext=tsx"],
    ...(style.semicolons ? [] : ["--no-semicolons"]),
    ...(style.quotes === "single" ? ["--single-quote"] : []),
    "-",
  ]
  const { status, stdout, stderr } = spawnSync(deno, switches, {
    input: code,
    encoding: "utf8",
    // In UTF-8, a UTF-16 unit takes at most three bytes.
    maxBuffer: 3 * codeCharsMax + 100_000,
    env: { DENO_DIR: `${scratch}/deno`, HOME: scratch, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
  })
  if (status !== 0) return { kind: "refused", reason: explain(stderr) }
  if (stdout.length > codeCharsMax)
    return { kind: "refused", reason: `the result would have more than ${codeCharsMax} characters` }
  return { kind: "formatted", code: stdout }
}

/** The request of the format tool: JSON on its standard input. */
export interface FormatRequest {
  readonly code: string
  readonly style: CodeStyle
  /** Longer results are refused. */
  readonly codeCharsMax: number
}

/** Its response: JSON on its standard output. */
export type FormatResponse =
  | { readonly kind: "formatted"; readonly code: string }
  | { readonly kind: "refused"; readonly reason: string }

/** Deno reports the error in a line, and its place in a later one. */
function explain(stderr: string): string {
  const message = /error: (?:Error formatting: )?(?:SyntaxError: )?([^\n]+)/.exec(stderr)?.[1]
  const line = /_stdin\.tsx:(\d+):\d+/.exec(stderr)?.[1]
  if (message === undefined) return "the formatter has failed"
  return line === undefined ? message.trim() : `${message.trim()} (line ${line})`
}

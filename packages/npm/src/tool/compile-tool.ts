/**
 * Creates V8's code cache of a bundle without running it. The code comes on standard input, the
 * cache goes to standard output.
 */
import { readFileSync, writeSync } from "node:fs"
import { Script } from "node:vm"
import { packagesScript } from "@hamlet/sandbox"
import { joinResponse } from "./tool-messages.ts"

const bytes = compile(readFileSync(0, "utf8"))
for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at)

function compile(code: string): Uint8Array {
  const { name, before, after } = packagesScript
  try {
    return joinResponse(
      { error: null },
      new Script(before + code + after, { filename: name }).createCachedData(),
    )
  } catch (error) {
    return joinResponse(
      { error: error instanceof Error ? error.message : String(error) },
      new Uint8Array(),
    )
  }
}

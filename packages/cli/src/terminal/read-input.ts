import { readFile } from "node:fs/promises"
import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"
import { askHidden, canAsk } from "./ask.ts"

/** Reads all of standard input as text. */
export async function readInput(bytesMax: number = limits.inputBytesMax): Promise<string> {
  return toText(await readInputBytes(bytesMax), "standard input")
}

/** Reads all of standard input as bytes. */
export async function readInputBytes(bytesMax: number): Promise<Uint8Array> {
  return collectBytes(Bun.stdin.stream(), bytesMax, "Cannot read standard input")
}

/** Reads a stream of at most `bytesMax` bytes. `failure` begins the message about a larger one. */
export async function collectBytes(
  stream: AsyncIterable<Uint8Array> | null,
  bytesMax: number,
  failure: string,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax)
      throw new CliError("failed", `${failure}: it is larger than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * Prompts for the value of a secret, or reads it from standard input without the trailing newline.
 */
export async function readSecret(name: string): Promise<string> {
  const value = canAsk()
    ? await askHidden(`Value of ${name}: `)
    : (await readInput()).replace(/\r?\n$/, "")
  if (value === "") throw new CliError("usage", `Cannot set ${name}: the value is empty`)
  return value
}

/** Reads a file that an option names. */
export async function readNamedFile(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new CliError("usage", `Cannot read "${path}": ${(cause as Error).message}`, { cause })
  }
}

/** Decodes bytes; invalid UTF-8 is refused rather than replaced. */
export function toText(bytes: Uint8Array, source: string, verb = "read"): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new CliError("failed", `Cannot ${verb} ${source}: it is not UTF-8 text`, { cause })
  }
}

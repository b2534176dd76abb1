import { readFile } from "node:fs/promises"
import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"

/** Reads all of standard input as text. */
export async function readInput(bytesMax: number = limits.inputBytesMax): Promise<string> {
  return toText(await readInputBytes(bytesMax), "standard input")
}

/** Reads all of standard input as bytes. */
export async function readInputBytes(bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of Bun.stdin.stream()) {
    bytes += chunk.length
    if (bytes > bytesMax)
      throw new CliError(
        "failed",
        `Cannot read standard input: it is larger than ${bytesMax} bytes`,
      )
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
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
export function toText(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new CliError("failed", `Cannot read ${source}: it is not UTF-8 text`, { cause })
  }
}

import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"

/** All of standard input as text. */
export async function readInput(bytesMax: number = limits.inputBytesMax): Promise<string> {
  return toText(await readInputBytes(bytesMax), "standard input")
}

/** All of standard input as it is. */
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

/** Bytes as text; what is no UTF-8 is refused instead of being changed on the way. */
export function toText(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new CliError("failed", `Cannot read ${source}: it is not text in UTF-8`, { cause })
  }
}

import { writeSync } from "node:fs"
import { exitCodes } from "./exit-codes.ts"

/** The output streams of the program. */
export interface Streams {
  writeOut(text: string): void
  writeError(text: string): void
  /**
   * Waits until everything is written: exiting earlier would truncate the output of a slow reader.
   */
  flush(): Promise<void>
}

/**
 * Opens the streams of this process. When the reader closes the pipe, as `head` does, the program
 * exits silently.
 */
export function openStreams(): Streams {
  const [out, error] = [track(process.stdout), track(process.stderr)]
  return {
    writeOut: out.write,
    writeError: error.write,
    async flush() {
      await out.flush()
      await error.flush()
    },
  }
}

/**
 * Resolves in the callback of the last write; writing nothing and waiting for that is not enough.
 */
function track(stream: NodeJS.WriteStream) {
  let last: Promise<unknown> = Promise.resolve()
  stream.on("error", endIfClosed)
  return {
    write(text: string) {
      last = new Promise((resolve) => stream.write(text, resolve))
    },
    async flush() {
      endIfClosed(await last)
    },
  }
}

/** Writes bytes to standard output, as fast as its reader takes them. Exits if that fails. */
export async function writeBytes(bytes: Uint8Array): Promise<void> {
  endIfClosed(await new Promise((resolve) => process.stdout.write(bytes, resolve)))
}

function endIfClosed(error: unknown): void {
  if (!(error instanceof Error)) return
  if ("code" in error && error.code === "EPIPE") process.exit(exitCodes.brokenPipe.exit)
  // Written directly: the failed stream may be standard error itself.
  writeSync(
    process.stderr.fd,
    `Cannot write the output: ${"code" in error && error.code === "ENOSPC" ? "the disk is full" : error.message}\n`,
  )
  process.exit(exitCodes.failed.exit)
}

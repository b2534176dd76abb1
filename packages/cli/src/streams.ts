import { writeSync } from "node:fs"
import { exitCodes } from "./exit-codes.ts"

/** Where the program writes, and how it knows that everything has been read. */
export interface Streams {
  writeOut(text: string): void
  writeError(text: string): void
  /**
   * Waits until all of it has gone: ending the program earlier would cut what a slow reader has not
   * taken yet.
   */
  flush(): Promise<void>
}

/**
 * The streams of this process. Whoever reads may stop, as `head` does: that ends the program, and
 * there is nothing to say about it.
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
 * Only the callback of a write tells that it is done; writing nothing and waiting for that does
 * not.
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

function endIfClosed(error: unknown): void {
  if (!(error instanceof Error)) return
  if ("code" in error && error.code === "EPIPE") process.exit(exitCodes.brokenPipe.exit)
  // Not through the streams: this one may be the other.
  writeSync(
    process.stderr.fd,
    `Cannot write the output: ${"code" in error && error.code === "ENOSPC" ? "the disk is full" : error.message}\n`,
  )
  process.exit(exitCodes.failed.exit)
}
